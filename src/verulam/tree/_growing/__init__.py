"""Growing trees whose nodes test one column, categories and parts of rows included."""
