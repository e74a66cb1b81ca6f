"""The operators of ONNX's version 11, of which none is written: what asks for one raises AttributeError."""
