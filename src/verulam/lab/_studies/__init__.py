"""The work behind the pages Table and Studies, without any page: questions, runs, answers."""
