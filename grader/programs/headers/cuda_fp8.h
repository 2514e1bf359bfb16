#error "8-bit floats on the host are not served by the virtual GPU"
