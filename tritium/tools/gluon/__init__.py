"""`tritium gluon`: a kernel of the Triton language in Gluon, with the layouts and copies that passes chose."""
