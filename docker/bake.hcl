# The images for CPUs and GPUs, each also with Ray, for both architectures, from the repository's root:
# docker buildx bake -f docker/bake.hcl --push
variable "NAME" {
  default = "gradd"
}

variable "VERSION" {
  default = "0.1.0"
}

variable "REVISION" {
  default = "unknown"
}

group "default" {
  targets = ["cpu", "cuda", "ray", "cuda-ray"]
}

target "image" {
  context    = "."
  dockerfile = "docker/Dockerfile"
  platforms  = ["linux/amd64", "linux/arm64"]
  args = {
    VERSION  = VERSION
    REVISION = REVISION
  }
}

target "cpu" {
  inherits = ["image"]
  target   = "cpu"
  tags     = ["${NAME}:${VERSION}"]
}

target "cuda" {
  inherits = ["image"]
  target   = "cuda"
  tags     = ["${NAME}:${VERSION}-cuda"]
}

# For the nodes of a Ray cluster and their front.
target "ray" {
  inherits = ["cpu"]
  args     = { EXTRAS = "server,ray,s3" }
  tags     = ["${NAME}:${VERSION}-ray"]
}

target "cuda-ray" {
  inherits = ["cuda"]
  args     = { EXTRAS = "server,ray,s3" }
  tags     = ["${NAME}:${VERSION}-cuda-ray"]
}
