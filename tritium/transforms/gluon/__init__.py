"""Passes of Gluon: the choice of layouts that a kernel leaves open."""
