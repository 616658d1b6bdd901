"""Networks from data: tables by counts or EM, structure by trees and search."""
