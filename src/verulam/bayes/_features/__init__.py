"""Binary latent features: factors that are present or absent, and buffets without end."""
