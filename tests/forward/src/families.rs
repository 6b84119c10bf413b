// SPDX-License-Identifier: MIT OR Apache-2.0
//! The models of families.py, with the names of fields that the destinations of record's profiles have.
#![allow(non_snake_case)]
use crate::names::*;
use crate::Run;
use burn::module::{Module, Param};
use burn::nn::conv::*;
use burn::nn::pool::MaxPool2dConfig;
use burn::nn::transformer::*;
use burn::nn::*;
use burn::tensor::activation::{gelu, relu, softmax};
use burn::tensor::{Int, Tensor, TensorData};

fn linear<B: Backend>(from: usize, to: usize, d: &B::Device) -> Linear<B> {
    LinearConfig::new(from, to).init(d)
}

fn plain<B: Backend>(from: usize, to: usize, d: &B::Device) -> Linear<B> {
    LinearConfig::new(from, to).with_bias(false).init(d)
}

fn norm<B: Backend>(d: &B::Device) -> LayerNorm<B> {
    LayerNormConfig::new(8).init(d)
}

fn table<B: Backend>(rows: usize, d: &B::Device) -> Embedding<B> {
    EmbeddingConfig::new(rows, 8).init(d)
}

/// The numbers 0, 1, 2 ... of one sequence.
fn places<B: Backend>(length: usize, d: &B::Device) -> Tensor<B, 2, Int> {
    Tensor::arange(0..length as i64, d).unsqueeze()
}

fn scores<B: Backend>(query: Tensor<B, 4>, key: Tensor<B, 4>, scale: f64) -> Tensor<B, 4> {
    query.matmul(key.swap_dims(2, 3)) * scale
}

/// What hides later positions where it is added to scores.
fn causal<B: Backend>(length: usize, d: &B::Device) -> Tensor<B, 4> {
    let later = |at: usize| if at % length > at / length { -1e9 } else { 0.0 };
    let mask = (0..length * length).map(later).collect::<Vec<f32>>();
    Tensor::from_data(TensorData::new(mask, [1, 1, length, length]), d)
}

/// Attention of two heads of four. BIAS is added to the scores.
fn attend<B: Backend>(
    q: Tensor<B, 3>,
    k: Tensor<B, 3>,
    v: Tensor<B, 3>,
    scale: f64,
    bias: Option<Tensor<B, 4>>,
) -> Tensor<B, 3> {
    let [batch, length, _] = q.dims();
    let heads = |t: Tensor<B, 3>| {
        let length = t.dims()[1];
        t.reshape([batch, length, 2, 4]).swap_dims(1, 2)
    };
    let all = scores(heads(q), heads(k), scale);
    let all = match bias {
        Some(bias) => all + bias,
        None => all,
    };
    softmax(all, 3).matmul(heads(v)).swap_dims(1, 2).reshape([batch, length, 8])
}

#[derive(Module, Debug)]
pub struct Attention<B: Backend> {
    wq: Linear<B>,
    wk: Linear<B>,
    wv: Linear<B>,
    wo: Linear<B>,
}

impl<B: Backend> Attention<B> {
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let ([batch, length, _], d) = (x.dims(), x.device());
        let heads =
            |layer: &Linear<B>, count| layer.forward(x.clone()).reshape([batch, length, count, 4]).swap_dims(1, 2);
        let shared = |t: Tensor<B, 4>| t.unsqueeze_dim::<5>(2).repeat_dim(2, 2).reshape([batch, 4, length, 4]);
        let rotary = RotaryEncodingConfig::new(16, 4).init(&d);
        let query = rotary.forward(heads(&self.wq, 4));
        let key = shared(rotary.forward(heads(&self.wk, 2)));
        let mixed = softmax(scores(query, key, 0.5) + causal(length, &d), 3).matmul(shared(heads(&self.wv, 2)));
        self.wo.forward(mixed.swap_dims(1, 2).reshape([batch, length, 16]))
    }
}

#[derive(Module, Debug)]
pub struct FeedForward<B: Backend> {
    swiglu: SwiGlu<B>,
    w2: Linear<B>,
}

#[derive(Module, Debug)]
pub struct LlamaLayer<B: Backend> {
    attention: Attention<B>,
    feed_forward: FeedForward<B>,
    attention_norm: RmsNorm<B>,
    ffn_norm: RmsNorm<B>,
}

#[derive(Module, Debug)]
pub struct Llama<B: Backend> {
    tok_embeddings: Embedding<B>,
    layers: Vec<LlamaLayer<B>>,
    norm: RmsNorm<B>,
    output: Linear<B>,
}

impl<B: Backend> Llama<B> {
    fn new(d: &B::Device) -> Self {
        let plain = |from, to| LinearConfig::new(from, to).with_bias(false).init(d);
        let norm = || RmsNormConfig::new(16).with_epsilon(1e-5).init(d);
        let layer = |_| LlamaLayer {
            attention: Attention { wq: plain(16, 16), wk: plain(16, 8), wv: plain(16, 8), wo: plain(16, 16) },
            feed_forward: FeedForward { swiglu: SwiGluConfig::new(16, 16).init(d), w2: plain(16, 16) },
            attention_norm: norm(),
            ffn_norm: norm(),
        };
        let tok_embeddings = EmbeddingConfig::new(11, 16).init(d);
        Self { tok_embeddings, layers: (0..2).map(layer).collect(), norm: norm(), output: plain(16, 11) }
    }
    fn forward(&self, x: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        let mut x = self.tok_embeddings.forward(x);
        for layer in &self.layers {
            x = x.clone() + layer.attention.forward(layer.attention_norm.forward(x));
            let inner = layer.feed_forward.swiglu.forward(layer.ffn_norm.forward(x.clone()));
            x = x + layer.feed_forward.w2.forward(inner);
        }
        self.output.forward(self.norm.forward(x))
    }
}

#[derive(Module, Debug)]
pub struct BertEmbeddings<B: Backend> {
    word_embeddings: Embedding<B>,
    position_embeddings: Embedding<B>,
    token_type_embeddings: Embedding<B>,
    layer_norm: LayerNorm<B>,
}

#[derive(Module, Debug)]
pub struct BertPooler<B: Backend> {
    output: Linear<B>,
}

#[derive(Module, Debug)]
pub struct Bert<B: Backend> {
    embeddings: BertEmbeddings<B>,
    encoder: TransformerEncoder<B>,
    pooler: BertPooler<B>,
}

impl<B: Backend> Bert<B> {
    fn new(d: &B::Device) -> Self {
        Self {
            embeddings: BertEmbeddings {
                word_embeddings: table(11, d),
                position_embeddings: table(6, d),
                token_type_embeddings: table(2, d),
                layer_norm: norm(d),
            },
            encoder: TransformerEncoderConfig::new(8, 16, 2, 2).init(d),
            pooler: BertPooler { output: linear(8, 8, d) },
        }
    }
    fn forward(&self, x: Tensor<B, 2, Int>) -> Tensor<B, 2> {
        let ([batch, length], d) = (x.dims(), x.device());
        let (tables, places) = (&self.embeddings, places(length, &d));
        let x = tables.word_embeddings.forward(x)
            + tables.position_embeddings.forward(places.clone())
            + tables.token_type_embeddings.forward(places * 0);
        let x = self.encoder.forward(TransformerEncoderInput::new(tables.layer_norm.forward(x)));
        self.pooler.output.forward(x.slice([0..batch, 0..1, 0..8]).flatten(0, 1)).tanh()
    }
}

#[derive(Module, Debug)]
pub struct Gpt2Attention<B: Backend> {
    c_attn: Linear<B>,
    c_proj: Linear<B>,
}

#[derive(Module, Debug)]
pub struct Gpt2Mlp<B: Backend> {
    c_fc: Linear<B>,
    c_proj: Linear<B>,
}

#[derive(Module, Debug)]
pub struct Gpt2Block<B: Backend> {
    ln_1: LayerNorm<B>,
    attn: Gpt2Attention<B>,
    ln_2: LayerNorm<B>,
    mlp: Gpt2Mlp<B>,
}

#[derive(Module, Debug)]
pub struct Gpt2Model<B: Backend> {
    wte: Embedding<B>,
    wpe: Embedding<B>,
    h: Vec<Gpt2Block<B>>,
    ln_f: LayerNorm<B>,
}

#[derive(Module, Debug)]
pub struct Gpt2<B: Backend> {
    transformer: Gpt2Model<B>,
    lm_head: Linear<B>,
}

impl<B: Backend> Gpt2<B> {
    fn new(d: &B::Device) -> Self {
        let block = |_| Gpt2Block {
            ln_1: norm(d),
            attn: Gpt2Attention { c_attn: linear(8, 24, d), c_proj: linear(8, 8, d) },
            ln_2: norm(d),
            mlp: Gpt2Mlp { c_fc: linear(8, 32, d), c_proj: linear(32, 8, d) },
        };
        let transformer =
            Gpt2Model { wte: table(11, d), wpe: table(6, d), h: (0..2).map(block).collect(), ln_f: norm(d) };
        Self { transformer, lm_head: plain(8, 11, d) }
    }
    fn forward(&self, x: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        let (length, d) = (x.dims()[1], x.device());
        let mut x = self.transformer.wte.forward(x) + self.transformer.wpe.forward(places(length, &d));
        for block in &self.transformer.h {
            let all = block.attn.c_attn.forward(block.ln_1.forward(x.clone()));
            let [query, key, value] = [0, 1, 2].map(|part| all.clone().narrow(2, part * 8, 8));
            x = x + block.attn.c_proj.forward(attend(query, key, value, 0.5, Some(causal(length, &d))));
            let inner = gelu(block.mlp.c_fc.forward(block.ln_2.forward(x.clone())));
            x = x + block.mlp.c_proj.forward(inner);
        }
        self.lm_head.forward(self.transformer.ln_f.forward(x))
    }
}

#[derive(Module, Debug)]
pub struct PatchEmbed<B: Backend> {
    proj: Conv2d<B>,
}

#[derive(Module, Debug)]
pub struct Vit<B: Backend> {
    cls_token: Param<Tensor<B, 3>>,
    pos_embed: Param<Tensor<B, 3>>,
    patch_embed: PatchEmbed<B>,
    encoder: TransformerEncoder<B>,
    norm: LayerNorm<B>,
    head: Linear<B>,
}

impl<B: Backend> Vit<B> {
    fn new(d: &B::Device) -> Self {
        Self {
            cls_token: Initializer::Zeros.init([1, 1, 8], d),
            pos_embed: Initializer::Zeros.init([1, 5, 8], d),
            patch_embed: PatchEmbed { proj: Conv2dConfig::new([3, 8], [2, 2]).with_stride([2, 2]).init(d) },
            encoder: TransformerEncoderConfig::new(8, 16, 2, 2).with_norm_first(true).init(d),
            norm: norm(d),
            head: linear(8, 8, d),
        }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 2> {
        let batch = x.dims()[0];
        let x = self.patch_embed.proj.forward(x).flatten::<3>(2, 3).swap_dims(1, 2);
        let x = Tensor::cat(vec![self.cls_token.val().repeat_dim(0, batch), x], 1) + self.pos_embed.val();
        let x = self.norm.forward(self.encoder.forward(TransformerEncoderInput::new(x)));
        self.head.forward(x.slice([0..batch, 0..1, 0..8]).flatten(0, 1))
    }
}

#[derive(Module, Debug)]
pub struct WhisperAttention<B: Backend> {
    query: Linear<B>,
    key: Linear<B>,
    value: Linear<B>,
    out: Linear<B>,
}

impl<B: Backend> WhisperAttention<B> {
    fn new(d: &B::Device) -> Self {
        Self { query: linear(8, 8, d), key: plain(8, 8, d), value: linear(8, 8, d), out: linear(8, 8, d) }
    }
    fn forward(&self, x: Tensor<B, 3>, context: Tensor<B, 3>, mask: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let (key, value) = (self.key.forward(context.clone()), self.value.forward(context));
        self.out.forward(attend(self.query.forward(x), key, value, 0.5, mask))
    }
}

#[derive(Module, Debug)]
pub struct WhisperMlp<B: Backend> {
    lin1: Linear<B>,
    lin2: Linear<B>,
}

#[derive(Module, Debug)]
pub struct WhisperBlock<B: Backend> {
    attn: WhisperAttention<B>,
    attn_ln: LayerNorm<B>,
    cross_attn: Option<WhisperAttention<B>>,
    cross_attn_ln: Option<LayerNorm<B>>,
    mlp: WhisperMlp<B>,
    mlp_ln: LayerNorm<B>,
}

impl<B: Backend> WhisperBlock<B> {
    fn new(decoder: bool, d: &B::Device) -> Self {
        Self {
            attn: WhisperAttention::new(d),
            attn_ln: norm(d),
            cross_attn: decoder.then(|| WhisperAttention::new(d)),
            cross_attn_ln: decoder.then(|| norm(d)),
            mlp: WhisperMlp { lin1: linear(8, 16, d), lin2: linear(16, 8, d) },
            mlp_ln: norm(d),
        }
    }
    fn forward(&self, x: Tensor<B, 3>, context: Option<Tensor<B, 3>>, mask: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let y = self.attn_ln.forward(x.clone());
        let mut x = x + self.attn.forward(y.clone(), y, mask);
        if let (Some(attn), Some(ln), Some(context)) = (&self.cross_attn, &self.cross_attn_ln, context) {
            x = x.clone() + attn.forward(ln.forward(x), context, None);
        }
        let inner = gelu(self.mlp.lin1.forward(self.mlp_ln.forward(x.clone())));
        x + self.mlp.lin2.forward(inner)
    }
}

#[derive(Module, Debug)]
pub struct WhisperEncoder<B: Backend> {
    conv1: Conv1d<B>,
    conv2: Conv1d<B>,
    positional_embedding: Param<Tensor<B, 2>>,
    blocks: Vec<WhisperBlock<B>>,
    ln_post: LayerNorm<B>,
}

#[derive(Module, Debug)]
pub struct WhisperDecoder<B: Backend> {
    token_embedding: Param<Tensor<B, 2>>,
    positional_embedding: Param<Tensor<B, 2>>,
    blocks: Vec<WhisperBlock<B>>,
    ln: LayerNorm<B>,
}

#[derive(Module, Debug)]
pub struct Whisper<B: Backend> {
    encoder: WhisperEncoder<B>,
    decoder: WhisperDecoder<B>,
}

impl<B: Backend> Whisper<B> {
    fn new(d: &B::Device) -> Self {
        let conv = |from| Conv1dConfig::new(from, 8, 3).with_padding(PaddingConfig1d::Explicit(1, 1));
        let encoder = WhisperEncoder {
            conv1: conv(3).init(d),
            conv2: conv(8).with_stride(2).init(d),
            positional_embedding: Initializer::Zeros.init([4, 8], d),
            blocks: vec![WhisperBlock::new(false, d)],
            ln_post: norm(d),
        };
        let decoder = WhisperDecoder {
            token_embedding: Initializer::Zeros.init([11, 8], d),
            positional_embedding: Initializer::Zeros.init([5, 8], d),
            blocks: vec![WhisperBlock::new(true, d)],
            ln: norm(d),
        };
        Self { encoder, decoder }
    }
    fn forward(&self, sound: Tensor<B, 3>, x: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        let ([batch, length], d) = (x.dims(), x.device());
        let sound = gelu(self.encoder.conv2.forward(gelu(self.encoder.conv1.forward(sound)))).swap_dims(1, 2);
        let sound = sound + self.encoder.positional_embedding.val().unsqueeze();
        let sound = self.encoder.blocks.iter().fold(sound, |x, block| block.forward(x, None, None));
        let sound = self.encoder.ln_post.forward(sound);
        let tokens = self.decoder.token_embedding.val();
        let x = tokens.clone().select(0, x.flatten(0, 1)).reshape([batch, length, 8]);
        let x = x + self.decoder.positional_embedding.val().slice([0..length, 0..8]).unsqueeze();
        let block = |x, block: &WhisperBlock<B>| block.forward(x, Some(sound.clone()), Some(causal(length, &d)));
        let x = self.decoder.ln.forward(self.decoder.blocks.iter().fold(x, block));
        x.matmul(tokens.swap_dims(0, 1).unsqueeze())
    }
}

#[derive(Module, Debug)]
pub struct Downsample<B: Backend> {
    conv: Conv2d<B>,
    bn: BatchNorm<B>,
}

#[derive(Module, Debug)]
pub struct BasicBlock<B: Backend> {
    conv1: Conv2d<B>,
    bn1: BatchNorm<B>,
    conv2: Conv2d<B>,
    bn2: BatchNorm<B>,
    downsample: Option<Downsample<B>>,
}

fn conv<B: Backend>(channels: [usize; 2], size: usize, stride: usize, d: &B::Device) -> Conv2d<B> {
    let half = size / 2;
    let config = Conv2dConfig::new(channels, [size, size]).with_stride([stride, stride]).with_bias(false);
    config.with_padding(PaddingConfig2d::Explicit(half, half, half, half)).init(d)
}

fn batch_norm<B: Backend>(channels: usize, d: &B::Device) -> BatchNorm<B> {
    BatchNormConfig::new(channels).init(d)
}

impl<B: Backend> BasicBlock<B> {
    fn new(from: usize, to: usize, stride: usize, d: &B::Device) -> Self {
        Self {
            conv1: conv([from, to], 3, stride, d),
            bn1: batch_norm(to, d),
            conv2: conv([to, to], 3, 1, d),
            bn2: batch_norm(to, d),
            downsample: (stride > 1)
                .then(|| Downsample { conv: conv([from, to], 1, stride, d), bn: batch_norm(to, d) }),
        }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let y = relu(self.bn1.forward(self.conv1.forward(x.clone())));
        let beside = self.downsample.as_ref().map_or(x.clone(), |down| down.bn.forward(down.conv.forward(x)));
        relu(self.bn2.forward(self.conv2.forward(y)) + beside)
    }
}

#[derive(Module, Debug)]
pub struct Stage<B: Backend> {
    blocks: Vec<BasicBlock<B>>,
}

#[derive(Module, Debug)]
pub struct ResNet<B: Backend> {
    conv1: Conv2d<B>,
    bn1: BatchNorm<B>,
    layer1: Stage<B>,
    layer2: Stage<B>,
    layer3: Stage<B>,
    layer4: Stage<B>,
    fc: Linear<B>,
}

impl<B: Backend> ResNet<B> {
    fn new(d: &B::Device) -> Self {
        let stage = |from, to| Stage { blocks: vec![BasicBlock::new(from, to, 2, d)] };
        Self {
            conv1: conv([3, 4], 7, 2, d),
            bn1: batch_norm(4, d),
            layer1: Stage { blocks: (0..2).map(|_| BasicBlock::new(4, 4, 1, d)).collect() },
            layer2: stage(4, 4),
            layer3: stage(4, 6),
            layer4: stage(6, 6),
            fc: linear(6, 6, d),
        }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 2> {
        let x = relu(self.bn1.forward(self.conv1.forward(x)));
        let pool =
            MaxPool2dConfig::new([3, 3]).with_strides([2, 2]).with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1));
        let stages = [&self.layer1, &self.layer2, &self.layer3, &self.layer4];
        let blocks = stages.into_iter().flat_map(|stage| &stage.blocks);
        let x = blocks.fold(pool.init().forward(x), |x, block| block.forward(x));
        self.fc.forward(x.mean_dim(3).mean_dim(2).flatten(1, 3))
    }
}

#[derive(Module, Debug)]
pub struct T5Attention<B: Backend> {
    q: Linear<B>,
    k: Linear<B>,
    v: Linear<B>,
    o: Linear<B>,
    relative_attention_bias: Option<Embedding<B>>,
}

impl<B: Backend> T5Attention<B> {
    fn new(biased: bool, d: &B::Device) -> Self {
        let [q, k, v, o] = [(); 4].map(|_| plain(8, 8, d));
        let relative_attention_bias = biased.then(|| EmbeddingConfig::new(32, 2).init(d));
        Self { q, k, v, o, relative_attention_bias }
    }
    fn forward(&self, x: Tensor<B, 3>, context: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let (key, value) = (self.k.forward(context.clone()), self.v.forward(context));
        self.o.forward(attend(self.q.forward(x), key, value, 1.0, bias))
    }
}

fn rms<B: Backend>(d: &B::Device) -> RmsNorm<B> {
    RmsNormConfig::new(8).with_epsilon(1e-5).init(d)
}

#[derive(Module, Debug)]
pub struct T5SelfAttention<B: Backend> {
    SelfAttention: T5Attention<B>,
    layer_norm: RmsNorm<B>,
}

#[derive(Module, Debug)]
pub struct T5CrossAttention<B: Backend> {
    EncDecAttention: T5Attention<B>,
    layer_norm: RmsNorm<B>,
}

#[derive(Module, Debug)]
pub struct T5Dense<B: Backend> {
    wi: Linear<B>,
    wo: Linear<B>,
}

#[derive(Module, Debug)]
pub struct T5FeedForward<B: Backend> {
    DenseReluDense: T5Dense<B>,
    layer_norm: RmsNorm<B>,
}

impl<B: Backend> T5FeedForward<B> {
    fn new(d: &B::Device) -> Self {
        Self { DenseReluDense: T5Dense { wi: plain(8, 8, d), wo: plain(8, 8, d) }, layer_norm: rms(d) }
    }
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let inner = relu(self.DenseReluDense.wi.forward(self.layer_norm.forward(x.clone())));
        x + self.DenseReluDense.wo.forward(inner)
    }
}

#[derive(Module, Debug)]
pub struct T5EncoderBlock<B: Backend> {
    layer: (T5SelfAttention<B>, T5FeedForward<B>),
}

#[derive(Module, Debug)]
pub struct T5DecoderBlock<B: Backend> {
    layer: (T5SelfAttention<B>, T5CrossAttention<B>, T5FeedForward<B>),
}

#[derive(Module, Debug)]
pub struct T5Encoder<B: Backend> {
    block: Vec<T5EncoderBlock<B>>,
    final_layer_norm: RmsNorm<B>,
}

#[derive(Module, Debug)]
pub struct T5Decoder<B: Backend> {
    block: Vec<T5DecoderBlock<B>>,
    final_layer_norm: RmsNorm<B>,
}

impl<B: Backend> T5SelfAttention<B> {
    fn new(biased: bool, d: &B::Device) -> Self {
        Self { SelfAttention: T5Attention::new(biased, d), layer_norm: rms(d) }
    }
    fn forward(&self, x: Tensor<B, 3>, bias: Tensor<B, 4>) -> Tensor<B, 3> {
        let y = self.layer_norm.forward(x.clone());
        x + self.SelfAttention.forward(y.clone(), y, Some(bias))
    }
    /// The bias of the first block, which all blocks have; distances below 8 alone.
    fn bias(&self, length: usize, decoder: bool, d: &B::Device) -> Tensor<B, 4> {
        let bucket = |at: usize| {
            let apart = (at % length) as i64 - (at / length) as i64;
            if decoder {
                (-apart).max(0)
            } else {
                apart.abs() + if apart > 0 { 16 } else { 0 }
            }
        };
        let buckets = TensorData::new((0..length * length).map(bucket).collect::<Vec<i64>>(), [1, length * length]);
        let rows = self
            .SelfAttention
            .relative_attention_bias
            .as_ref()
            .unwrap()
            .forward(Tensor::<B, 2, Int>::from_data(buckets, d));
        let bias = rows.swap_dims(1, 2).reshape([1, 2, length, length]);
        if decoder {
            bias + causal(length, d)
        } else {
            bias
        }
    }
}

#[derive(Module, Debug)]
pub struct T5<B: Backend> {
    shared: Embedding<B>,
    encoder: T5Encoder<B>,
    decoder: T5Decoder<B>,
    lm_head: Linear<B>,
}

impl<B: Backend> T5<B> {
    fn new(d: &B::Device) -> Self {
        let encoder = |number| T5EncoderBlock { layer: (T5SelfAttention::new(number == 0, d), T5FeedForward::new(d)) };
        let decoder = |number| {
            let cross = T5CrossAttention { EncDecAttention: T5Attention::new(false, d), layer_norm: rms(d) };
            T5DecoderBlock { layer: (T5SelfAttention::new(number == 0, d), cross, T5FeedForward::new(d)) }
        };
        Self {
            shared: table(11, d),
            encoder: T5Encoder { block: (0..2).map(encoder).collect(), final_layer_norm: rms(d) },
            decoder: T5Decoder { block: (0..2).map(decoder).collect(), final_layer_norm: rms(d) },
            lm_head: plain(8, 11, d),
        }
    }
    fn forward(&self, x: Tensor<B, 2, Int>, y: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        let (d, lengths) = (x.device(), [x.dims()[1], y.dims()[1]]);
        let (mut x, mut y) = (self.shared.forward(x), self.shared.forward(y));
        let bias = self.encoder.block[0].layer.0.bias(lengths[0], false, &d);
        for block in &self.encoder.block {
            x = block.layer.1.forward(block.layer.0.forward(x, bias.clone()));
        }
        let x = self.encoder.final_layer_norm.forward(x);
        let bias = self.decoder.block[0].layer.0.bias(lengths[1], true, &d);
        for block in &self.decoder.block {
            y = block.layer.0.forward(y, bias.clone());
            let cross = &block.layer.1;
            y = y.clone() + cross.EncDecAttention.forward(cross.layer_norm.forward(y), x.clone(), None);
            y = block.layer.2.forward(y);
        }
        self.lm_head.forward(self.decoder.final_layer_norm.forward(y))
    }
}

#[derive(Module, Debug)]
pub struct DoubleConv<B: Backend> {
    double_conv: (Conv2d<B>, BatchNorm<B>, Conv2d<B>, BatchNorm<B>),
}

impl<B: Backend> DoubleConv<B> {
    fn new(from: usize, to: usize, d: &B::Device) -> Self {
        Self { double_conv: (conv([from, to], 3, 1, d), batch_norm(to, d), conv([to, to], 3, 1, d), batch_norm(to, d)) }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let x = relu(self.double_conv.1.forward(self.double_conv.0.forward(x)));
        relu(self.double_conv.3.forward(self.double_conv.2.forward(x)))
    }
}

#[derive(Module, Debug)]
pub struct Down<B: Backend> {
    maxpool_conv: Vec<DoubleConv<B>>,
}

#[derive(Module, Debug)]
pub struct Up<B: Backend> {
    up: ConvTranspose2d<B>,
    conv: DoubleConv<B>,
}

#[derive(Module, Debug)]
pub struct OutConv<B: Backend> {
    conv: Conv2d<B>,
}

#[derive(Module, Debug)]
pub struct Unet<B: Backend> {
    inc: DoubleConv<B>,
    down1: Down<B>,
    up1: Up<B>,
    outc: OutConv<B>,
}

impl<B: Backend> Unet<B> {
    fn new(d: &B::Device) -> Self {
        let up = ConvTranspose2dConfig::new([8, 4], [2, 2]).with_stride([2, 2]).init(d);
        Self {
            inc: DoubleConv::new(3, 4, d),
            down1: Down { maxpool_conv: vec![DoubleConv::new(4, 8, d)] },
            up1: Up { up, conv: DoubleConv::new(8, 4, d) },
            outc: OutConv { conv: Conv2dConfig::new([4, 4], [1, 1]).init(d) },
        }
    }
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let x = self.inc.forward(x);
        let pool = MaxPool2dConfig::new([2, 2]).with_strides([2, 2]).init();
        let y = self.down1.maxpool_conv[0].forward(pool.forward(x.clone()));
        let y = self.up1.conv.forward(Tensor::cat(vec![x, self.up1.up.forward(y)], 1));
        self.outc.conv.forward(y)
    }
}

pub fn compute(name: &str, run: &Run) -> Option<TensorData> {
    let d = &Device::default();
    let output = match name {
        "Llama" | "ConfiguredLlama" | "HubLlama" | "HubMistral" => {
            run.loaded(Llama::<B>::new(d)).forward(run.tokens(0)).into_data()
        }
        "Bert" | "HubBert" => run.loaded(Bert::<B>::new(d)).forward(run.tokens(0)).into_data(),
        "Gpt2" | "HubGpt2" => run.loaded(Gpt2::<B>::new(d)).forward(run.tokens(0)).into_data(),
        "Vit" | "HubVit" => run.loaded(Vit::<B>::new(d)).forward(run.floats(0)).into_data(),
        "Whisper" | "HubWhisper" => run.loaded(Whisper::<B>::new(d)).forward(run.floats(0), run.tokens(1)).into_data(),
        "ResNet" => run.loaded(ResNet::<B>::new(d)).forward(run.floats(0)).into_data(),
        "T5" | "HubT5" => run.loaded(T5::<B>::new(d)).forward(run.tokens(0), run.tokens(1)).into_data(),
        "Unet" => run.loaded(Unet::<B>::new(d)).forward(run.floats(0)).into_data(),
        _ => return None,
    };
    Some(output)
}
