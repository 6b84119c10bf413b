// SPDX-License-Identifier: MIT OR Apache-2.0
// Generated from librecord's headers by `generate`: do not edit.
use core::ffi::{c_char, c_int, c_void};
use core::marker::{PhantomData, PhantomPinned};
pub const REC_BIND_ALLOW_MISSING: i32 = 1;
pub const REC_BIND_ALLOW_UNEXPECTED: i32 = 2;
pub const REC_BIND_STRICT: i32 = 0;
pub const REC_BORROW: i32 = 1;
pub const REC_COPY: i32 = 0;
pub const REC_DTYPE_BF16: i32 = 5;
pub const REC_DTYPE_BOOL: i32 = 14;
pub const REC_DTYPE_BOOL32: i32 = 16;
pub const REC_DTYPE_BOOL8: i32 = 15;
pub const REC_DTYPE_F16: i32 = 4;
pub const REC_DTYPE_F32: i32 = 2;
pub const REC_DTYPE_F64: i32 = 1;
pub const REC_DTYPE_FLEX32: i32 = 3;
pub const REC_DTYPE_I16: i32 = 8;
pub const REC_DTYPE_I32: i32 = 7;
pub const REC_DTYPE_I64: i32 = 6;
pub const REC_DTYPE_I8: i32 = 9;
pub const REC_DTYPE_NONE: i32 = 0;
pub const REC_DTYPE_OPAQUE: i32 = 18;
pub const REC_DTYPE_QFLOAT: i32 = 17;
pub const REC_DTYPE_U16: i32 = 12;
pub const REC_DTYPE_U32: i32 = 11;
pub const REC_DTYPE_U64: i32 = 10;
pub const REC_DTYPE_U8: i32 = 13;
pub const REC_E_ARGUMENT: i32 = 1;
pub const REC_E_CANCELLED: i32 = 12;
pub const REC_E_CONFIG: i32 = 11;
pub const REC_E_FORMAT: i32 = 4;
pub const REC_E_IO: i32 = 3;
pub const REC_E_LIMIT: i32 = 9;
pub const REC_E_MEMORY: i32 = 2;
pub const REC_E_MISMATCH: i32 = 7;
pub const REC_E_NOT_FOUND: i32 = 6;
pub const REC_E_PLUGIN: i32 = 10;
pub const REC_E_RANGE: i32 = 8;
pub const REC_E_SYNC: i32 = 14;
pub const REC_E_TYPE: i32 = 13;
pub const REC_E_UNSUPPORTED: i32 = 5;
pub const REC_FIELD_ARRAY: i32 = 7;
pub const REC_FIELD_BOOL: i32 = 8;
pub const REC_FIELD_BOOLS: i32 = 4;
pub const REC_FIELD_CHILD: i32 = 5;
pub const REC_FIELD_CONSTANT: i32 = 1;
pub const REC_FIELD_F32: i32 = 17;
pub const REC_FIELD_F64: i32 = 18;
pub const REC_FIELD_FLOATS: i32 = 2;
pub const REC_FIELD_I16: i32 = 14;
pub const REC_FIELD_I32: i32 = 15;
pub const REC_FIELD_I64: i32 = 16;
pub const REC_FIELD_I8: i32 = 13;
pub const REC_FIELD_INTS: i32 = 3;
pub const REC_FIELD_IS_BARE: i32 = 2;
pub const REC_FIELD_IS_OPTION: i32 = 1;
pub const REC_FIELD_LIST: i32 = 6;
pub const REC_FIELD_STRING: i32 = 19;
pub const REC_FIELD_U16: i32 = 10;
pub const REC_FIELD_U32: i32 = 11;
pub const REC_FIELD_U64: i32 = 12;
pub const REC_FIELD_U8: i32 = 9;
pub const REC_FIELD_VALUE: i32 = 20;
pub const REC_FIELD_VARIANT: i32 = 21;
pub const REC_FORM_ARRAY: i32 = 2;
pub const REC_FORM_CONSTANT: i32 = 8;
pub const REC_FORM_LIST: i32 = 1;
pub const REC_FORM_MAP: i32 = 5;
pub const REC_FORM_NONE: i32 = 7;
pub const REC_FORM_PATHS: i32 = 10;
pub const REC_FORM_STRUCT: i32 = 4;
pub const REC_FORM_TUPLE: i32 = 3;
pub const REC_FORM_UNIT: i32 = 6;
pub const REC_FORM_UNIT_STRUCT: i32 = 9;
pub const REC_FORM_UNKNOWN: i32 = 0;
pub const REC_ID_ROOM: u32 = 16;
pub const REC_KIND_BOOL: i32 = 1;
pub const REC_KIND_BYTES: i32 = 6;
pub const REC_KIND_FLOAT: i32 = 4;
pub const REC_KIND_INT: i32 = 2;
pub const REC_KIND_LIST: i32 = 7;
pub const REC_KIND_MAP: i32 = 8;
pub const REC_KIND_NIL: i32 = 0;
pub const REC_KIND_NUMBERS: i32 = 10;
pub const REC_KIND_STRING: i32 = 5;
pub const REC_KIND_TENSOR: i32 = 11;
pub const REC_KIND_UINT: i32 = 3;
pub const REC_KIND_VARIANT: i32 = 9;
pub const REC_NAMES_CLOSE_GAPS: i32 = 1;
pub const REC_NAMES_KEEP_GAPS: i32 = 0;
pub const REC_NOTE_ADAPTED: i32 = 12;
pub const REC_NOTE_ASSUMED: i32 = 1;
pub const REC_NOTE_CHECK: i32 = 14;
pub const REC_NOTE_CLAMPED: i32 = 3;
pub const REC_NOTE_DROPPED: i32 = 4;
pub const REC_NOTE_KEY: i32 = 11;
pub const REC_NOTE_KIND: i32 = 8;
pub const REC_NOTE_LAYOUT: i32 = 10;
pub const REC_NOTE_MISSING: i32 = 5;
pub const REC_NOTE_OVERFLOW: i32 = 2;
pub const REC_NOTE_RULE: i32 = 13;
pub const REC_NOTE_SHAPE: i32 = 7;
pub const REC_NOTE_TRAILING: i32 = 9;
pub const REC_NOTE_UNEXPECTED: i32 = 6;
pub const REC_NO_SHORT_NAMES: u32 = 1;
pub const REC_OK: i32 = 0;
pub const REC_OPTION_BOOL: i32 = 1;
pub const REC_OPTION_CHOICE: i32 = 4;
pub const REC_OPTION_FLOAT: i32 = 3;
pub const REC_OPTION_INT: i32 = 2;
pub const REC_OPTION_SIZE: i32 = 6;
pub const REC_OPTION_TEXT: i32 = 5;
pub const REC_PLAN_DEFAULT: i32 = 6;
pub const REC_PLAN_DROPPED: i32 = 2;
pub const REC_PLAN_KEPT: i32 = 5;
pub const REC_PLAN_MAPPED: i32 = 1;
pub const REC_PLAN_MISSING: i32 = 4;
pub const REC_PLAN_UNEXPECTED: i32 = 3;
pub const REC_PLUGINS_ALL: i32 = 0;
pub const REC_PLUGINS_INSTALLED: i32 = 1;
pub const REC_PLUGINS_NONE: i32 = 2;
pub const REC_PLUGIN_CODEC: i32 = 1;
pub const REC_PLUGIN_FORMAT: i32 = 0;
pub const REC_PLUGIN_SCHEME: i32 = 4;
pub const REC_PLUGIN_SOURCE: i32 = 3;
pub const REC_PLUGIN_STACK: i32 = 2;
pub const REC_PRECISION_CONFIGURED: i32 = 5;
pub const REC_PRECISION_DEFAULT: i32 = 0;
pub const REC_PRECISION_DOUBLE: i32 = 2;
pub const REC_PRECISION_FULL: i32 = 3;
pub const REC_PRECISION_HALF: i32 = 4;
pub const REC_PRECISION_KEEP: i32 = 1;
pub const REC_PROBLEM_AMBIGUOUS: i32 = 7;
pub const REC_PROBLEM_ASSUMED: i32 = 11;
pub const REC_PROBLEM_COLLISION: i32 = 1;
pub const REC_PROBLEM_DEAD_RULE: i32 = 2;
pub const REC_PROBLEM_EMPTY: i32 = 8;
pub const REC_PROBLEM_FAMILY: i32 = 10;
pub const REC_PROBLEM_KIND: i32 = 6;
pub const REC_PROBLEM_MISSING: i32 = 3;
pub const REC_PROBLEM_NO_INVERSE: i32 = 9;
pub const REC_PROBLEM_SHAPE: i32 = 5;
pub const REC_PROBLEM_UNEXPECTED: i32 = 4;
pub const REC_PRODUCE: i32 = 3;
pub const REC_ROW_ALIGNED: i32 = 4;
pub const REC_ROW_ASSUMED: i32 = 1;
pub const REC_ROW_CONVERTED: i32 = 2;
pub const REC_TAKE: i32 = 2;
pub const REC_TYPE_ENUM: i32 = 2;
pub const REC_TYPE_STRUCT: i32 = 1;
pub const REC_UNKNOWN: u64 = u64::MAX;
pub const REC_VERSION_MAJOR: u32 = 0;
pub const REC_VERSION_MINOR: u32 = 9;
pub const REC_VERSION_PATCH: u32 = 0;

pub type rec_dtype = i32;
pub type rec_fill_fn = Option<unsafe extern "C" fn(user: *mut c_void, filling: *mut rec_filling) -> i32>;
pub type rec_note_fn = Option<unsafe extern "C" fn(user: *mut c_void, note: *const rec_note)>;
pub type rec_precision = i32;
pub type rec_progress_fn = Option<unsafe extern "C" fn(user: *mut c_void, progress: *const rec_progress) -> i32>;
pub type rec_status = i32;

#[repr(C)]
pub struct rec_binding {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct rec_context {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct rec_error {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct rec_families {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct rec_iterator {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct rec_plan {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct rec_record {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct rec_recorder {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct rec_sink {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct rec_tensor {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct rec_types {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct rec_value {
    _data: (),
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_allocator {
    pub size: u32,
    pub reserved: u32,
    pub alloc: Option<unsafe extern "C" fn(user: *mut c_void, size: usize) -> *mut c_void>,
    pub resize: Option<unsafe extern "C" fn(user: *mut c_void, old: *mut c_void, size: usize) -> *mut c_void>,
    pub release: Option<unsafe extern "C" fn(user: *mut c_void, memory: *mut c_void)>,
    pub user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_bools {
    pub data: *const u8,
    pub count: u64,
    pub shape: *const u64,
    pub tensor: *const rec_tensor,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_conversion_loss {
    pub size: u32,
    pub kind: i32,
    pub dtype: rec_dtype,
    pub whole: i32,
    pub count: u64,
    pub path: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_family {
    pub size: u32,
    pub fits: i32,
    pub profile: *const c_char,
    pub name: *const c_char,
    pub others: *const c_char,
    pub select: *const c_char,
    pub but: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_field {
    pub name: *const c_char,
    pub kind: i32,
    pub flags: u32,
    pub offset: u64,
    pub r#type: *const rec_type,
    pub length: u64,
    pub shape: [u64; 10],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_file {
    pub name: *const c_char,
    pub stem: *const c_char,
    pub tail: *const c_char,
    pub temporary: *const c_char,
    pub size: u64,
    pub reserved: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_filling {
    pub size: u32,
    pub reserved: u32,
    pub files: *const rec_file,
    pub count: u64,
    pub letters: *const c_char,
    pub last_size: u64,
    pub resume: i32,
    pub keep: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_floats {
    pub data: *const f32,
    pub count: u64,
    pub shape: *const u64,
    pub tensor: *const rec_tensor,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_input {
    pub size: u32,
    pub reserved: u32,
    pub name: *const c_char,
    pub total: u64,
    pub read: Option<unsafe extern "C" fn(user: *mut c_void, target: *mut c_void, room: u64, got: *mut u64) -> i32>,
    pub read_at: Option<unsafe extern "C" fn(user: *mut c_void, offset: u64, target: *mut c_void, size: u64) -> i32>,
    pub release: Option<unsafe extern "C" fn(user: *mut c_void)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_ints {
    pub data: *const i64,
    pub count: u64,
    pub shape: *const u64,
    pub tensor: *const rec_tensor,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_limits {
    pub size: u32,
    pub depth: u32,
    pub memory_factor: u64,
    pub memory_slack: u64,
    pub inflated_factor: u64,
    pub inflated_slack: u64,
    pub elements: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_note {
    pub size: u32,
    pub kind: i32,
    pub count: u64,
    pub path: *const c_char,
    pub text: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_option {
    pub size: u32,
    pub r#type: i32,
    pub name: *const c_char,
    pub initial: *const c_char,
    pub help: *const c_char,
    pub minimum: i64,
    pub maximum: i64,
    pub choices: *const *const c_char,
    pub low: f64,
    pub high: f64,
    pub old_names: *const *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_origin {
    pub size: u32,
    pub mapped: i32,
    pub layout: i32,
    pub reserved: u32,
    pub recorder: *const c_char,
    pub file: *const c_char,
    pub stored: u64,
    pub inflated: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_output {
    pub size: u32,
    pub reserved: u32,
    pub name: *const c_char,
    pub write: Option<unsafe extern "C" fn(user: *mut c_void, data: *const c_void, size: u64) -> i32>,
    pub patch: Option<unsafe extern "C" fn(user: *mut c_void, offset: u64, data: *const c_void, size: u64) -> i32>,
    pub finish: Option<unsafe extern "C" fn(user: *mut c_void, ok: i32) -> i32>,
    pub release: Option<unsafe extern "C" fn(user: *mut c_void)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_plan_line {
    pub size: u32,
    pub action: i32,
    pub source: *const c_char,
    pub from: *const c_char,
    pub to: *const c_char,
    pub operations: *const c_char,
    pub why: *const c_char,
    pub inputs: *const *const c_char,
    pub input_count: u64,
    pub dtype_before: rec_dtype,
    pub dtype_after: rec_dtype,
    pub rank_before: u32,
    pub rank_after: u32,
    pub shape_before: *const u64,
    pub shape_after: *const u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_plan_problem {
    pub size: u32,
    pub kind: i32,
    pub fatal: i32,
    pub reserved: i32,
    pub key: *const c_char,
    pub text: *const c_char,
    pub hint: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_plan_totals {
    pub size: u32,
    pub reserved: u32,
    pub tensors: u64,
    pub mapped: u64,
    pub dropped: u64,
    pub unexpected: u64,
    pub missing: u64,
    pub kept: u64,
    pub defaults: u64,
    pub fatal: u64,
    pub warnings: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_plugin_info {
    pub size: u32,
    pub usable: i32,
    pub name: *const c_char,
    pub aliases: *const c_char,
    pub extension: *const c_char,
    pub description: *const c_char,
    pub file: *const c_char,
    pub refused: *const c_char,
    pub options: *const c_char,
    pub adapter: *const c_char,
    pub kind: i32,
    pub can_load: i32,
    pub can_save: i32,
    pub needs_type: i32,
    pub has_names: i32,
    pub reads_folders: i32,
    pub version: *const c_char,
    pub license: *const c_char,
    pub extensions: *const c_char,
    pub option_count: u64,
    pub option_list: *const *const rec_option,
    pub hidden: *const c_char,
    pub burn_first: i32,
    pub burn_last: i32,
    pub schemes: *const c_char,
    pub format: *const c_char,
    pub codec: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_profile_info {
    pub size: u32,
    pub reserved: u32,
    pub name: *const c_char,
    pub description: *const c_char,
    pub source: *const c_char,
    pub destination: *const c_char,
    pub file: *const c_char,
    pub text: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_progress {
    pub size: u32,
    pub reserved: u32,
    pub operation: *const c_char,
    pub file: *const c_char,
    pub done: u64,
    pub total: u64,
    pub phase: u32,
    pub phases: u32,
    pub step: *const c_char,
    pub overall_done: u64,
    pub overall_total: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_row {
    pub path: *const c_char,
    pub path_length: u64,
    pub tensor: *const rec_tensor,
    pub shape: *const u64,
    pub id: *const c_char,
    pub data: *const c_void,
    pub data_size: u64,
    pub count: u64,
    pub nbytes: u64,
    pub offset: u64,
    pub dtype: rec_dtype,
    pub stored_dtype: rec_dtype,
    pub rank: u32,
    pub flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_scalar {
    pub kind: i32,
    pub bits: u16,
    pub form: u16,
    pub v: rec_scalar_v,
    pub text: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_table {
    pub size: u32,
    pub row_size: u32,
    pub count: u64,
    pub rows: *const rec_row,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_tensor_spec {
    pub size: u32,
    pub dtype: rec_dtype,
    pub rank: u32,
    pub ownership: i32,
    pub shape: *const u64,
    pub data: *const c_void,
    pub data_size: u64,
    pub id: *const c_char,
    pub release: Option<unsafe extern "C" fn(user: *mut c_void, data: *const c_void)>,
    pub user: *mut c_void,
    pub produce: Option<unsafe extern "C" fn(user: *mut c_void, offset: u64, target: *mut c_void, size: u64) -> i32>,
    pub parameter: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_type {
    pub size: u32,
    pub field_size: u32,
    pub kind: i32,
    pub reserved: u32,
    pub name: *const c_char,
    pub c_size: u64,
    pub field_count: u64,
    pub fields: *const rec_field,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rec_window {
    pub size: u32,
    pub reserved: u32,
    pub from: u64,
    pub to: u64,
    pub total: u64,
    pub sum: u64,
    pub lost: Option<unsafe extern "C" fn(user: *mut c_void, loss: *const rec_conversion_loss)>,
    pub user: *mut c_void,
    pub letters: *const c_char,
    pub file: Option<unsafe extern "C" fn(user: *mut c_void, file: *const rec_file)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union rec_scalar_v {
    pub i: i64,
    pub u: u64,
    pub f: f64,
    pub length: u64,
}

extern "C" {
    pub fn rec_bind(record: *const rec_record, r#type: *const rec_type, target: *mut c_void) -> *mut rec_binding;
    pub fn rec_bind_at(record: *const rec_record, path: *const c_char, r#type: *const rec_type, target: *mut c_void, flags: u32) -> *mut rec_binding;
    pub fn rec_binding_free(binding: *mut rec_binding);
    pub fn rec_clear(record: *mut rec_record, path: *const c_char) -> rec_status;
    pub fn rec_close_recorder(recorder: *mut rec_recorder);
    pub fn rec_config_open(path: *const c_char) -> *mut rec_context;
    pub fn rec_context_add_plugin_path(context: *mut rec_context, folder: *const c_char) -> rec_status;
    pub fn rec_context_free(context: *mut rec_context);
    pub fn rec_context_new(allocator: *const rec_allocator) -> *mut rec_context;
    pub fn rec_context_set_data(context: *mut rec_context, folder: *const c_char) -> rec_status;
    pub fn rec_context_set_default(context: *mut rec_context);
    pub fn rec_context_set_limits(context: *mut rec_context, limits: *const rec_limits) -> rec_status;
    pub fn rec_context_set_notes(context: *mut rec_context, callback: rec_note_fn, user: *mut c_void);
    pub fn rec_context_set_plugins(context: *mut rec_context, which: i32) -> rec_status;
    pub fn rec_context_set_progress(context: *mut rec_context, callback: rec_progress_fn, user: *mut c_void);
    pub fn rec_context_set_sources(context: *mut rec_context, yes: i32) -> rec_status;
    pub fn rec_context_set_spill(context: *mut rec_context, bytes: u64) -> rec_status;
    pub fn rec_context_set_threads(context: *mut rec_context, threads: u32) -> rec_status;
    pub fn rec_context_threads(context: *const rec_context) -> u32;
    pub fn rec_conversion_loss_text(loss: *const rec_conversion_loss, text: *mut c_char, room: u64) -> rec_status;
    pub fn rec_convert(from: *mut rec_recorder, r#in: *const c_char, to: *mut rec_recorder, out: *const c_char, plan: *mut rec_plan) -> rec_status;
    pub fn rec_display_name(path: *const c_char, name: *mut c_char, room: u64) -> u64;
    pub fn rec_dtype_bits(dtype: rec_dtype) -> u32;
    pub fn rec_dtype_from_name(name: *const c_char) -> rec_dtype;
    pub fn rec_dtype_name(dtype: rec_dtype) -> *const c_char;
    pub fn rec_error_copy() -> *mut rec_error;
    pub fn rec_error_errno() -> i32;
    pub fn rec_error_expected() -> *const c_char;
    pub fn rec_error_file() -> *const c_char;
    pub fn rec_error_found() -> *const c_char;
    pub fn rec_error_free(error: *mut rec_error);
    pub fn rec_error_hint() -> *const c_char;
    pub fn rec_error_line() -> u32;
    pub fn rec_error_message() -> *const c_char;
    pub fn rec_error_offset() -> u64;
    pub fn rec_error_path() -> *const c_char;
    pub fn rec_error_restore(error: *const rec_error);
    pub fn rec_error_status() -> rec_status;
    pub fn rec_families_get(families: *const rec_families, index: u64) -> *const rec_family;
    pub fn rec_files_look(recorder: *mut rec_recorder, path: *const c_char, files: *mut *mut c_void, size: *mut u64) -> rec_status;
    pub fn rec_files_show(recorder: *mut rec_recorder, files: *const c_void, size: u64) -> rec_status;
    pub fn rec_free(memory: *mut c_void);
    pub fn rec_guard_check(record: *const rec_record) -> rec_status;
    pub fn rec_guard_maps() -> rec_status;
    pub fn rec_id_number(id: *const c_char, number: *mut u64) -> i32;
    pub fn rec_id_text(number: u64, text: *mut c_char) -> *const c_char;
    pub fn rec_insert(record: *mut rec_record, path: *const c_char) -> rec_status;
    pub fn rec_iterate(record: *const rec_record) -> *mut rec_iterator;
    pub fn rec_iterator_free(iterator: *mut rec_iterator);
    pub fn rec_iterator_next(iterator: *mut rec_iterator, path: *mut *const c_char) -> *const rec_value;
    pub fn rec_iterator_next_tensor(iterator: *mut rec_iterator, path: *mut *const c_char) -> *const rec_tensor;
    pub fn rec_limits_init(limits: *mut rec_limits) -> rec_status;
    pub fn rec_load(recorder: *mut rec_recorder, path: *const c_char) -> *mut rec_record;
    pub fn rec_load_bytes(recorder: *mut rec_recorder, data: *const c_void, size: u64) -> *mut rec_record;
    pub fn rec_load_bytes_with(recorder: *mut rec_recorder, data: *const c_void, size: u64, release: Option<unsafe extern "C" fn(user: *mut c_void, data: *const c_void)>, user: *mut c_void) -> *mut rec_record;
    pub fn rec_load_fd(recorder: *mut rec_recorder, fd: c_int, name: *const c_char) -> *mut rec_record;
    pub fn rec_load_for(from: *mut rec_recorder, r#in: *const c_char, to: *const rec_recorder, out: *const c_char) -> *mut rec_record;
    pub fn rec_load_from(recorder: *mut rec_recorder, input: *const rec_input, user: *mut c_void) -> *mut rec_record;
    pub fn rec_metadata(record: *const rec_record, key: *const c_char) -> *const c_char;
    pub fn rec_metadata_count(record: *const rec_record) -> u64;
    pub fn rec_metadata_get(record: *const rec_record, index: u64, key: *mut *const c_char, value: *mut *const c_char) -> rec_status;
    pub fn rec_metadata_set(record: *mut rec_record, key: *const c_char, value: *const c_char) -> rec_status;
    pub fn rec_metadata_set_as(record: *mut rec_record, key: *const c_char, r#type: *const c_char, text: *const c_char) -> rec_status;
    pub fn rec_metadata_set_value(record: *mut rec_record, key: *const c_char, value: *const rec_value) -> rec_status;
    pub fn rec_metadata_value(record: *const rec_record, key: *const c_char) -> *const rec_value;
    pub fn rec_move(record: *mut rec_record, from: *const c_char, to: *const c_char) -> rec_status;
    pub fn rec_open_recorder(name: *const c_char, precision: rec_precision) -> *mut rec_recorder;
    pub fn rec_open_recorder_in(context: *mut rec_context, name: *const c_char, precision: rec_precision) -> *mut rec_recorder;
    pub fn rec_plan_add(plan: *mut rec_plan, from: *mut rec_recorder, path: *const c_char) -> rec_status;
    pub fn rec_plan_add_from(plan: *mut rec_plan, from: *mut rec_recorder, input: *const rec_input, user: *mut c_void) -> rec_status;
    pub fn rec_plan_add_record(plan: *mut rec_plan, arguments: *const rec_recorder, record: *const rec_record, name: *const c_char) -> rec_status;
    pub fn rec_plan_count(plan: *mut rec_plan) -> u64;
    pub fn rec_plan_free(plan: *mut rec_plan);
    pub fn rec_plan_get(plan: *mut rec_plan, index: u64) -> *const rec_plan_line;
    pub fn rec_plan_load(plan: *mut rec_plan) -> *mut rec_record;
    pub fn rec_plan_make(plan: *mut rec_plan) -> rec_status;
    pub fn rec_plan_new(context: *mut rec_context, to: *const rec_recorder) -> *mut rec_plan;
    pub fn rec_plan_problem_count(plan: *mut rec_plan) -> u64;
    pub fn rec_plan_problem_get(plan: *mut rec_plan, index: u64) -> *const rec_plan_problem;
    pub fn rec_plan_set_base(plan: *mut rec_plan, base: *const rec_record) -> rec_status;
    pub fn rec_plan_total(plan: *mut rec_plan, totals: *mut rec_plan_totals) -> rec_status;
    pub fn rec_plugin_count(context: *mut rec_context) -> u64;
    pub fn rec_plugin_find(context: *mut rec_context, name: *const c_char) -> *const rec_plugin_info;
    pub fn rec_plugin_for_path(context: *mut rec_context, path: *const c_char) -> *const rec_plugin_info;
    pub fn rec_plugin_get(context: *mut rec_context, index: u64) -> *const rec_plugin_info;
    pub fn rec_precision_from_name(name: *const c_char) -> rec_precision;
    pub fn rec_precision_name(precision: rec_precision) -> *const c_char;
    pub fn rec_profile_count(context: *mut rec_context) -> u64;
    pub fn rec_profile_get(context: *mut rec_context, index: u64) -> *const rec_profile_info;
    pub fn rec_recognise(context: *mut rec_context, path: *const c_char) -> *const c_char;
    pub fn rec_record_copy(record: *const rec_record) -> *mut rec_record;
    pub fn rec_record_describe(record: *const rec_record, types: *const rec_types, name: *const c_char) -> *mut c_char;
    pub fn rec_record_families(record: *const rec_record, path: *const c_char, count: *mut u64) -> *mut rec_families;
    pub fn rec_record_free(record: *mut rec_record);
    pub fn rec_record_new(context: *mut rec_context) -> *mut rec_record;
    pub fn rec_record_origin(record: *const rec_record) -> *const rec_origin;
    pub fn rec_record_table(record: *const rec_record) -> *const rec_table;
    pub fn rec_recorder_copy(recorder: *const rec_recorder) -> *mut rec_recorder;
    pub fn rec_recorder_extension(recorder: *const rec_recorder) -> *const c_char;
    pub fn rec_recorder_get(recorder: *const rec_recorder, option: *const c_char) -> *const c_char;
    pub fn rec_recorder_name(recorder: *const rec_recorder) -> *const c_char;
    pub fn rec_recorder_path(recorder: *const rec_recorder, path: *const c_char) -> *mut c_char;
    pub fn rec_recorder_set(recorder: *mut rec_recorder, option: *const c_char, value: *const c_char) -> rec_status;
    pub fn rec_recorder_set_progress(recorder: *mut rec_recorder, callback: rec_progress_fn, user: *mut c_void);
    pub fn rec_recorder_set_type(recorder: *mut rec_recorder, r#type: *const rec_type) -> rec_status;
    pub fn rec_recorder_set_type_name(recorder: *mut rec_recorder, types: *const rec_types, expression: *const c_char) -> rec_status;
    pub fn rec_recorder_unset(recorder: *mut rec_recorder, option: *const c_char) -> rec_status;
    pub fn rec_remove(record: *mut rec_record, path: *const c_char) -> rec_status;
    pub fn rec_report_count() -> u64;
    pub fn rec_report_note(index: u64) -> *const rec_note;
    pub fn rec_root(record: *const rec_record) -> *const rec_value;
    pub fn rec_save(recorder: *mut rec_recorder, record: *const rec_record, path: *const c_char) -> rec_status;
    pub fn rec_save_bytes(recorder: *mut rec_recorder, record: *const rec_record, data: *mut *mut c_void, size: *mut u64) -> rec_status;
    pub fn rec_save_fd(recorder: *mut rec_recorder, record: *const rec_record, fd: c_int, name: *const c_char) -> rec_status;
    pub fn rec_save_filled(recorder: *mut rec_recorder, path: *const c_char, filling: *const rec_filling, fill: rec_fill_fn, user: *mut c_void) -> rec_status;
    pub fn rec_save_to(recorder: *mut rec_recorder, record: *const rec_record, output: *const rec_output, user: *mut c_void) -> rec_status;
    pub fn rec_save_window(recorder: *mut rec_recorder, record: *const rec_record, path: *const c_char, window: *mut rec_window, output: *const rec_output, user: *mut c_void) -> rec_status;
    pub fn rec_set_bool(record: *mut rec_record, path: *const c_char, value: i32) -> rec_status;
    pub fn rec_set_empty(record: *mut rec_record, path: *const c_char, kind: i32) -> rec_status;
    pub fn rec_set_f32(record: *mut rec_record, path: *const c_char, data: *const f32, rank: u32, shape: *const u64) -> rec_status;
    pub fn rec_set_float(record: *mut rec_record, path: *const c_char, value: f64) -> rec_status;
    pub fn rec_set_id(record: *mut rec_record, path: *const c_char, id: *const c_char) -> rec_status;
    pub fn rec_set_int(record: *mut rec_record, path: *const c_char, value: i64) -> rec_status;
    pub fn rec_set_nil(record: *mut rec_record, path: *const c_char) -> rec_status;
    pub fn rec_set_scalar(record: *mut rec_record, path: *const c_char, scalar: rec_scalar) -> rec_status;
    pub fn rec_set_string(record: *mut rec_record, path: *const c_char, value: *const c_char) -> rec_status;
    pub fn rec_set_tensor(record: *mut rec_record, path: *const c_char, spec: *const rec_tensor_spec) -> rec_status;
    pub fn rec_set_tensors(record: *mut rec_record, names: *const *const c_char, specs: *const rec_tensor_spec, count: u64, flags: u32) -> rec_status;
    pub fn rec_set_uint(record: *mut rec_record, path: *const c_char, value: u64) -> rec_status;
    pub fn rec_set_value(record: *mut rec_record, path: *const c_char, value: *const rec_value) -> rec_status;
    pub fn rec_sink_wants(sink: *const rec_sink, size: u64) -> i32;
    pub fn rec_status_name(status: rec_status) -> *const c_char;
    pub fn rec_table_free(table: *const rec_table);
    pub fn rec_tensor_assumed(tensor: *const rec_tensor) -> i32;
    pub fn rec_tensor_at(record: *const rec_record, path: *const c_char) -> *const rec_tensor;
    pub fn rec_tensor_at_hand(tensor: *const rec_tensor, size: *mut u64) -> *const c_void;
    pub fn rec_tensor_bool(tensor: *const rec_tensor) -> *const u8;
    pub fn rec_tensor_bytes(tensor: *const rec_tensor, size: *mut u64) -> *const c_void;
    pub fn rec_tensor_count(tensor: *const rec_tensor) -> u64;
    pub fn rec_tensor_dtype(tensor: *const rec_tensor) -> rec_dtype;
    pub fn rec_tensor_dtype_name(tensor: *const rec_tensor) -> *const c_char;
    pub fn rec_tensor_dtype_value(tensor: *const rec_tensor) -> *const rec_value;
    pub fn rec_tensor_f16(tensor: *const rec_tensor) -> *const u16;
    pub fn rec_tensor_f32(tensor: *const rec_tensor) -> *const f32;
    pub fn rec_tensor_f64(tensor: *const rec_tensor) -> *const f64;
    pub fn rec_tensor_i32(tensor: *const rec_tensor) -> *const i32;
    pub fn rec_tensor_i64(tensor: *const rec_tensor) -> *const i64;
    pub fn rec_tensor_id(tensor: *const rec_tensor) -> *const c_char;
    pub fn rec_tensor_id_number(tensor: *const rec_tensor, number: *mut u64) -> rec_status;
    pub fn rec_tensor_is_parameter(tensor: *const rec_tensor) -> i32;
    pub fn rec_tensor_is_part(tensor: *const rec_tensor) -> i32;
    pub fn rec_tensor_nbytes(tensor: *const rec_tensor) -> u64;
    pub fn rec_tensor_numbers_dtype(tensor: *const rec_tensor) -> rec_dtype;
    pub fn rec_tensor_offset(tensor: *const rec_tensor) -> u64;
    pub fn rec_tensor_rank(tensor: *const rec_tensor) -> u32;
    pub fn rec_tensor_read(tensor: *const rec_tensor, dtype: rec_dtype, first: u64, count: u64, target: *mut c_void) -> rec_status;
    pub fn rec_tensor_release(tensor: *const rec_tensor, first: u64, count: u64);
    pub fn rec_tensor_scheme(tensor: *const rec_tensor) -> *const c_char;
    pub fn rec_tensor_shape(tensor: *const rec_tensor) -> *const u64;
    pub fn rec_tensor_stored_dtype(tensor: *const rec_tensor) -> rec_dtype;
    pub fn rec_types_add_file(types: *mut rec_types, path: *const c_char) -> rec_status;
    pub fn rec_types_add_rust(types: *mut rec_types, text: *const c_char, name: *const c_char) -> rec_status;
    pub fn rec_types_free(types: *mut rec_types);
    pub fn rec_types_name(types: *const rec_types, index: u64) -> *const c_char;
    pub fn rec_types_new(context: *mut rec_context) -> *mut rec_types;
    pub fn rec_value_at(record: *const rec_record, path: *const c_char) -> *const rec_value;
    pub fn rec_value_bytes(value: *const rec_value, size: *mut u64) -> *const c_void;
    pub fn rec_value_child(value: *const rec_value, name: *const c_char) -> *const rec_value;
    pub fn rec_value_count(value: *const rec_value) -> u64;
    pub fn rec_value_form(value: *const rec_value) -> i32;
    pub fn rec_value_get(value: *const rec_value, scalar: *mut rec_scalar) -> rec_status;
    pub fn rec_value_get_key(value: *const rec_value, index: u64, scalar: *mut rec_scalar) -> rec_status;
    pub fn rec_value_get_number(value: *const rec_value, index: u64, scalar: *mut rec_scalar) -> rec_status;
    pub fn rec_value_item(value: *const rec_value, index: u64) -> *const rec_value;
    pub fn rec_value_key(value: *const rec_value, index: u64) -> rec_scalar;
    pub fn rec_value_kind(value: *const rec_value) -> i32;
    pub fn rec_value_number(value: *const rec_value, index: u64) -> rec_scalar;
    pub fn rec_value_numbers(value: *const rec_value, dtype: rec_dtype, first: u64, count: u64, target: *mut c_void) -> rec_status;
    pub fn rec_value_scalar(value: *const rec_value) -> rec_scalar;
    pub fn rec_value_tensor(value: *const rec_value) -> *const rec_tensor;
    pub fn rec_value_type(value: *const rec_value, text: *mut c_char, room: u64) -> u64;
    pub fn rec_value_variant(value: *const rec_value) -> u64;
    pub fn rec_version() -> u32;
    pub fn rec_version_string() -> *const c_char;
}
