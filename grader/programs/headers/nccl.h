#error "NCCL is not served by the virtual GPU"
