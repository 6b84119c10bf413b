// The model of Burn's MNIST example, written from the shapes of its saved files: three convolutions up to 0.18.
use burn::nn;

#[derive(Module, Debug)]
pub struct Model<B: Backend> {
    conv1: ConvBlock<B>,
    conv2: ConvBlock<B>,
    conv3: ConvBlock<B>,
    dropout: nn::Dropout,
    fc1: nn::Linear<B>,
    fc2: nn::Linear<B>,
    activation: nn::Gelu,
}

#[derive(Module, Debug)]
pub struct ConvBlock<B: Backend> {
    conv: nn::conv::Conv2d<B>,
    norm: nn::BatchNorm<B, 2>,
    activation: nn::Gelu,
}

/// Since 0.19.
#[derive(Module, Debug)]
pub struct Model19<B: Backend> {
    conv1: ConvBlock19<B>,
    conv2: ConvBlock19<B>,
    dropout: nn::Dropout,
    fc1: nn::Linear<B>,
    fc2: nn::Linear<B>,
    fc3: nn::Linear<B>,
    activation: nn::Gelu,
}

#[derive(Module, Debug)]
pub struct ConvBlock19<B: Backend> {
    conv: nn::conv::Conv2d<B>,
    norm: nn::BatchNorm<B>,
    pool: Option<nn::pool::MaxPool2d>,
    activation: nn::Relu,
}
