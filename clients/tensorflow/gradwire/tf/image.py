"""``tf.image``: pictures, their channels last."""

from gradwire.tf.operations.image import *
from gradwire.tf.pictures import decode_image as decode_image
from gradwire.tf.pictures import decode_jpeg as decode_jpeg
from gradwire.tf.pictures import decode_png as decode_png
from gradwire.tf.pictures import encode_jpeg as encode_jpeg
from gradwire.tf.pictures import encode_png as encode_png
from gradwire.tf.pictures import extract_jpeg_shape as extract_jpeg_shape
from gradwire.tf.pictures import is_jpeg as is_jpeg
from gradwire.tf.resizing import *
