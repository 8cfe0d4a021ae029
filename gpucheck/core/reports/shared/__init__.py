"""Shared by reports: formatting of values, selection of findings, and common sections."""
