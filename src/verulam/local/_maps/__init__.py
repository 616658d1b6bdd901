"""Maps: units on a grid whose neighbours learn together, and places of rows on a plane."""
