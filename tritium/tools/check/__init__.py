"""`tritium check`: a launch as Python, as IR after each pass and as machine code, compared; what differs is named.

| file | what it is about |
|---|---|
| `launch` | arguments that can be had again and again |
| `runs` | the ways in which a launch is run |
| `steps` | a compile taken apart |
| `compare` | two results, element by element |
| `noise` | by how much results may differ that are rounded elsewhere |
| `blame` | the rewrite and the operation that went wrong |
| `oracle` | the check |
| `inputs` | arguments made of a signature |
| `report` | what is told |
| `command` | the command line |
"""
