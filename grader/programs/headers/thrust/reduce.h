#error "Thrust is not served by the virtual GPU"
