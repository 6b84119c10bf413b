// SPDX-License-Identifier: MIT OR Apache-2.0
// Generated from librecord's headers by `generate`: do not edit.
structs! {
    rec_allocator { size reserved alloc resize release user }
    rec_bools { data count shape tensor }
    rec_conversion_loss { size kind dtype whole count path }
    rec_family { size fits profile name others select but }
    rec_field { name kind flags offset r#type length shape }
    rec_file { name stem tail temporary size reserved }
    rec_filling { size reserved files count letters last_size resume keep }
    rec_floats { data count shape tensor }
    rec_input { size reserved name total read read_at release }
    rec_ints { data count shape tensor }
    rec_limits { size depth memory_factor memory_slack inflated_factor inflated_slack elements }
    rec_note { size kind count path text }
    rec_option { size r#type name initial help minimum maximum choices low high old_names }
    rec_origin { size mapped layout reserved recorder file stored inflated }
    rec_output { size reserved name write patch finish release }
    rec_plan_line { size action source from to operations why inputs input_count dtype_before dtype_after rank_before rank_after shape_before shape_after }
    rec_plan_problem { size kind fatal reserved key text hint }
    rec_plan_totals { size reserved tensors mapped dropped unexpected missing kept defaults fatal warnings }
    rec_plugin_info { size usable name aliases extension description file refused options adapter kind can_load can_save needs_type has_names reads_folders version license extensions option_count option_list hidden burn_first burn_last schemes format codec }
    rec_profile_info { size reserved name description source destination file text }
    rec_progress { size reserved operation file done total phase phases step overall_done overall_total }
    rec_row { path path_length tensor shape id data data_size count nbytes offset dtype stored_dtype rank flags }
    rec_scalar { kind bits form v text }
    rec_table { size row_size count rows }
    rec_tensor_spec { size dtype rank ownership shape data data_size id release user produce parameter }
    rec_type { size field_size kind reserved name c_size field_count fields }
    rec_window { size reserved from to total sum lost user letters file }
}
