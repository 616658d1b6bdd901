"""Patches of images as rows of a matrix, and back, compiled.

Images lie flat, rows of pixels one after the other, all channels of a pixel together: a row of a
patch is one run of numbers.
"""

from verulam.numerics import njit


@njit(error_model="numpy")
def gather_patches(images, patches, geometry):
    """Copy the patches of images into the rows of a matrix, flat.

    Parameters
    ----------
    images, patches
        Numbers, flat; patches are written.
    geometry
        Images, their height, width and channels, height and width of a patch, places down and
        across, stride.
    """
    n_images, height, width, channels, tall, wide, down, across, stride = geometry
    run, place = wide * channels, 0
    for image in range(n_images):
        for row in range(down):
            for column in range(across):
                corner = ((image * height + row * stride) * width + column * stride) * channels
                for line in range(tall):
                    start = corner + line * width * channels
                    # Offsets into slices are known to be positive, and become vector moves.
                    source, target = images[start : start + run], patches[place : place + run]
                    for offset in range(run):
                        target[offset] = source[offset]
                    place += run


@njit(error_model="numpy")
def scatter_patches(patches, images, geometry):
    """Add the patches in the rows of a matrix to the places of images that they came from.

    Parameters
    ----------
    patches, images
        Numbers, flat; images are written, from zero on.
    geometry
        As in `gather_patches`.
    """
    n_images, height, width, channels, tall, wide, down, across, stride = geometry
    run, place = wide * channels, 0
    for pixel in range(images.shape[0]):
        images[pixel] = 0.0
    for image in range(n_images):
        for row in range(down):
            for column in range(across):
                corner = ((image * height + row * stride) * width + column * stride) * channels
                for line in range(tall):
                    start = corner + line * width * channels
                    source, target = patches[place : place + run], images[start : start + run]
                    for offset in range(run):
                        target[offset] += source[offset]
                    place += run
