# Both images for both architectures, from the repository's root: docker buildx bake -f docker/bake.hcl --push
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
  targets = ["cpu", "cuda"]
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
