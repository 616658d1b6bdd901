"""Pictures of what is learned without targets: components, maps, clusters, associations."""
