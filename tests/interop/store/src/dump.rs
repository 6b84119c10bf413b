// SPDX-License-Identifier: MIT OR Apache-2.0
//! A module's tensors as JSON: path, id, element type, shape, bytes.
#[cfg(not(feature = "since_22"))]
use burn::tensor::backend::Backend;
use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::{Bool, Int, Tensor, TensorData};

#[derive(Default)]
struct Dump {
    path: Vec<String>,
    lines: Vec<String>,
}

#[cfg(not(feature = "since_22"))]
fn about(data: &TensorData) -> (String, Vec<usize>) {
    (format!("{:?}", data.dtype), data.shape.to_vec())
}
#[cfg(feature = "since_22")]
fn about(data: &TensorData) -> (String, Vec<usize>) {
    (format!("{:?}", data.dtype()), data.shape().to_vec())
}

impl Dump {
    fn add(&mut self, id: ParamId, data: TensorData) {
        let (dtype, shape) = about(&data);
        let bytes: String = data.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        let path = self.path.join(".");
        self.lines.push(format!(
            "{{\"path\": \"{path}\", \"id\": \"{}\", \"dtype\": \"{dtype}\", \"shape\": {shape:?}, \"bytes\": \"{bytes}\"}}",
            id.val()
        ));
    }
}

impl<B: Backend> ModuleVisitor<B> for Dump {
    fn enter_module(&mut self, name: &str, _kind: &str) {
        self.path.push(name.to_string());
    }
    fn exit_module(&mut self, _name: &str, _kind: &str) {
        self.path.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        self.add(param.id, param.transform_for_save().val().to_data());
    }
    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<B, D, Int>>) {
        self.add(param.id, param.transform_for_save().val().to_data());
    }
    fn visit_bool<const D: usize>(&mut self, param: &Param<Tensor<B, D, Bool>>) {
        self.add(param.id, param.transform_for_save().val().to_data());
    }
}

/// A list, an object a line.
pub fn tensors<B: Backend, M: Module<B>>(module: &M) -> String {
    let mut dump = Dump::default();
    module.visit(&mut dump);
    format!("[\n{}\n]", dump.lines.join(",\n"))
}
