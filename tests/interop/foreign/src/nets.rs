// SPDX-License-Identifier: MIT OR Apache-2.0
//! Models of the families of $LIBRECORD_SHARED/data/families, as a user of Burn has them. Both sides read this file: cargo
//! compiles it, and librecord takes the types from it (--type nets.rs:NAME).
use burn::module::{Module, Param};
use burn::nn;
use burn::nn::conv::{Conv2d, ConvTranspose2d};
use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Tensor};

#[derive(Module, Debug)]
pub struct LstmNet<B: Backend> {
    lstm: nn::Lstm<B>,
    deep: Vec<nn::BiLstm<B>>,
    nobias: nn::Lstm<B>,
    head: nn::Linear<B>,
}

#[cfg(feature = "since_21")]
#[derive(Module, Debug)]
pub struct GruNet<B: Backend> {
    gru: nn::gru::Gru<B>,
    bi: nn::gru::BiGru<B>,
    rnn: nn::Rnn<B>,
}

/// Attention whose keys and values have widths of their own.
#[derive(Module, Debug)]
pub struct Crossing<B: Backend> {
    query: nn::Linear<B>,
    key: nn::Linear<B>,
    value: nn::Linear<B>,
    output: nn::Linear<B>,
}

#[derive(Module, Debug)]
pub struct MhaNet<B: Backend> {
    attn: nn::attention::MultiHeadAttention<B>,
    cross: Crossing<B>,
    extra: nn::attention::MultiHeadAttention<B>,
    encoder: nn::transformer::TransformerEncoder<B>,
    decoder: nn::transformer::TransformerDecoder<B>,
}

/// What stands in a Sequential, told apart by its fields: the first that fits, and a Branch without body always does.
#[derive(Module, Debug)]
pub enum Item<B: Backend> {
    Conv(Conv2d<B>),
    Branch(Branch<B>),
}

#[derive(Module, Debug)]
pub struct Branch<B: Backend> {
    body: Vec<Piece<B>>,
}

#[derive(Module, Debug)]
pub enum Piece<B: Backend> {
    Conv(Conv2d<B>),
    Norm(nn::BatchNorm<B>),
}

#[derive(Module, Debug)]
pub struct GapsNet<B: Backend> {
    features: Vec<Item<B>>,
    classifier: Vec<nn::Linear<B>>,
    emb: Vec<nn::Embedding<B>>,
    norms: (nn::GroupNorm<B>, nn::LayerNorm<B>, nn::InstanceNorm<B>),
    act: nn::PRelu<B>,
    up: ConvTranspose2d<B>,
    mean: Param<Tensor<B, 1>>,
    seen: Param<Tensor<B, 1, Bool>>,
}

#[derive(Module, Debug)]
pub struct Downsample<B: Backend> {
    conv: Conv2d<B>,
    bn: nn::BatchNorm<B>,
}

#[derive(Module, Debug)]
pub struct Bottleneck<B: Backend> {
    conv1: Conv2d<B>,
    bn1: nn::BatchNorm<B>,
    relu: nn::Relu,
    conv2: Conv2d<B>,
    bn2: nn::BatchNorm<B>,
    conv3: Conv2d<B>,
    bn3: nn::BatchNorm<B>,
    downsample: Option<Downsample<B>>,
}

#[derive(Module, Debug)]
pub struct Basic<B: Backend> {
    conv1: Conv2d<B>,
    bn1: nn::BatchNorm<B>,
    relu: nn::Relu,
    conv2: Conv2d<B>,
    bn2: nn::BatchNorm<B>,
    downsample: Option<Downsample<B>>,
}

#[derive(Module, Debug)]
pub enum Residual<B: Backend> {
    Bottleneck(Bottleneck<B>),
    Basic(Basic<B>),
}

#[derive(Module, Debug)]
pub struct Stage<B: Backend> {
    blocks: Vec<Residual<B>>,
}

#[derive(Module, Debug)]
pub struct ResNet<B: Backend> {
    conv1: Conv2d<B>,
    bn1: nn::BatchNorm<B>,
    relu: nn::Relu,
    layer1: Stage<B>,
    layer2: Stage<B>,
    layer3: Stage<B>,
    layer4: Stage<B>,
    fc: nn::Linear<B>,
}

#[derive(Module, Debug)]
pub struct Attention<B: Backend> {
    wq: nn::Linear<B>,
    wk: nn::Linear<B>,
    wv: nn::Linear<B>,
    wo: nn::Linear<B>,
    n_heads: usize,
}

#[derive(Module, Debug)]
pub struct FeedForward<B: Backend> {
    swiglu: nn::SwiGlu<B>,
    w2: nn::Linear<B>,
}

#[derive(Module, Debug)]
pub struct LlamaLayer<B: Backend> {
    attention: Attention<B>,
    attention_norm: nn::RmsNorm<B>,
    feed_forward: FeedForward<B>,
    ffn_norm: nn::RmsNorm<B>,
}

#[derive(Module, Debug)]
pub struct Llama<B: Backend> {
    tok_embeddings: nn::Embedding<B>,
    layers: Vec<LlamaLayer<B>>,
    norm: nn::RmsNorm<B>,
    output: nn::Linear<B>,
}

#[derive(Module, Debug)]
pub struct BertEmbeddings<B: Backend> {
    word_embeddings: nn::Embedding<B>,
    position_embeddings: nn::Embedding<B>,
    token_type_embeddings: nn::Embedding<B>,
    layer_norm: nn::LayerNorm<B>,
    dropout: nn::Dropout,
}

#[derive(Module, Debug)]
pub struct Pooler<B: Backend> {
    output: nn::Linear<B>,
}

#[derive(Module, Debug)]
pub struct Bert<B: Backend> {
    embeddings: BertEmbeddings<B>,
    encoder: nn::transformer::TransformerEncoder<B>,
    pooler: Option<Pooler<B>>,
}

#[derive(Module, Debug)]
pub struct Patches<B: Backend> {
    proj: Conv2d<B>,
}

#[derive(Module, Debug)]
pub struct Vit<B: Backend> {
    cls_token: Param<Tensor<B, 3>>,
    pos_embed: Param<Tensor<B, 3>>,
    patch_embed: Patches<B>,
    encoder: nn::transformer::TransformerEncoder<B>,
    norm: nn::LayerNorm<B>,
    head: nn::Linear<B>,
}

#[derive(Module, Debug)]
pub struct Gpt2<B: Backend> {
    token_embedding: nn::Embedding<B>,
    position_embedding: nn::Embedding<B>,
    encoder: nn::transformer::TransformerEncoder<B>,
    norm: nn::LayerNorm<B>,
    lm_head: nn::Linear<B>,
}
