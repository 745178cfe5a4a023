"""Count trees and how rows reach their nodes."""
