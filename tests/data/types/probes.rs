// SPDX-License-Identifier: MIT OR Apache-2.0
// Modules made to show what each kind of field becomes, Burn version by version.

use burn::config::Config;
use burn::module::{Ignored, Module, Param};
use burn::nn::{
    conv::{Conv1d, Conv2d},
    pool::MaxPool2d,
    Dropout, LayerNorm, Linear, Relu,
};
use burn::tensor::{backend::Backend, Bool, Int, Tensor};
use std::marker::PhantomData;

/// An enum module: its payload is the record of what it holds.
#[derive(Module, Debug)]
pub enum Choice<B: Backend> {
    Dense(Linear<B>),
    Conv(Conv1d<B>),
    Act(Relu),
}

#[derive(Module, Debug)]
pub enum Pick<B: Backend> {
    Norm(LayerNorm<B>),
    Pool(Option<MaxPool2d>),
    Pair([usize; 2]),
}

#[derive(Module, Debug)]
pub struct FieldsPair<B: Backend> {
    norm: LayerNorm<B>,
    pair: [usize; 2],
}

#[derive(Module, Debug)]
pub struct FieldsList<B: Backend> {
    norm: LayerNorm<B>,
    list: Vec<usize>,
}

#[derive(Module, Debug)]
pub struct FieldsMaybe<B: Backend> {
    norm: LayerNorm<B>,
    maybe: Option<usize>,
    never: Option<usize>,
}

#[derive(Module, Debug)]
pub struct FieldsPlain<B: Backend> {
    norm: LayerNorm<B>,
    some: Option<Relu>,
    none: Option<Relu>,
    list: Vec<Dropout>,
    tuple: (Relu, Dropout),
}

#[derive(Module, Debug)]
pub struct FieldsBuffer<B: Backend> {
    norm: LayerNorm<B>,
    buffer: Tensor<B, 1>,
    some: Option<Tensor<B, 1>>,
    none: Option<Tensor<B, 1>>,
    list: Vec<Tensor<B, 1>>,
}

#[derive(Module, Debug)]
pub struct FieldsMixed<B: Backend> {
    norm: LayerNorm<B>,
    mixed: (LayerNorm<B>, [usize; 2], Option<usize>, Option<usize>),
    list: Vec<(LayerNorm<B>, Option<usize>)>,
    picks: (Pick<B>, Pick<B>, Pick<B>, Pick<B>),
    maybe: Option<Vec<LayerNorm<B>>>,
}

#[derive(Module, Debug)]
pub struct FieldsIds<B: Backend> {
    norm: LayerNorm<B>,
    ids: Param<Tensor<B, 1, Int>>,
    mask: Param<Tensor<B, 1, Bool>>,
}

/// A module without data.
#[derive(Module, Clone, Debug)]
pub struct Plain {
    size: usize,
}

/// As of Burn 0.14.
#[derive(Module, Debug)]
pub struct Fields<B: Backend> {
    size: usize,
    ratio: f64,
    flag: bool,
    name: Ignored<String>,
    pair: [usize; 2],
    list: Vec<usize>,
    maybe: Option<usize>,
    never: Option<usize>,
    plain: Relu,
    plain_some: Option<Plain>,
    plain_none: Option<Plain>,
    plain_list: Vec<Plain>,
    plain_tuple: (Relu, Plain),
    act: Option<Relu>,
    buffer: Tensor<B, 1>,
    buffer_some: Option<Tensor<B, 1>>,
    buffer_none: Option<Tensor<B, 1>>,
    phantom: PhantomData<B>,
    ids: Param<Tensor<B, 1, Int>>,
    mask: Param<Tensor<B, 1, Bool>>,
    norms: [LayerNorm<B>; 2],
    tuple: (Linear<B>, Relu, LayerNorm<B>),
    some: Option<LayerNorm<B>>,
    none: Option<LayerNorm<B>>,
    params: Vec<Param<Tensor<B, 1>>>,
    choice: Choice<B>,
    choices: Vec<Choice<B>>,
    nested: Vec<Vec<LayerNorm<B>>>,
}

/// Up to 0.11: no tuples, no enums.
#[derive(Module, Debug)]
pub struct FieldsOld<B: Backend> {
    norm: LayerNorm<B>,
    size: usize,
    flag: bool,
    name: Ignored<String>,
    pair: [usize; 2],
    list: Vec<usize>,
    maybe: Option<usize>,
    never: Option<usize>,
    plain: Plain,
    plain_some: Option<Plain>,
    plain_none: Option<Plain>,
    plain_list: Vec<Plain>,
    some: Option<LayerNorm<B>>,
    none: Option<LayerNorm<B>>,
    params: Vec<Param<Tensor<B, 1>>>,
    nested: Vec<Vec<LayerNorm<B>>>,
}
