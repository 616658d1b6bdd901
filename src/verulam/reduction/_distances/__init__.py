"""Maps from distances: scaling, stress, curvilinear components, and how good a map is."""
