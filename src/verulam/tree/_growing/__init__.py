"""Growing trees whose nodes test one column."""
