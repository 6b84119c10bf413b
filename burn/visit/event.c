/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Calls of a visitor to events, and back. */
#include "burn/visit/event.h"

static int32_t hear(void *self, lr_event event)
{
    lr_listener *listener = self;
    return listener->event(listener, &event);
}

static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    return hear(self, (lr_event){.kind = LR_EVENT_METADATA, .at = at, .key = key, .scalar = value});
}

static int32_t on_metadata_value(void *self, uint64_t at, const rec_scalar *key)
{
    return hear(self, (lr_event){.kind = LR_EVENT_METADATA_VALUE, .at = at, .key = key});
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    return hear(self, (lr_event){.kind = LR_EVENT_SCALAR, .at = at, .scalar = scalar});
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    return hear(self, (lr_event){.kind = LR_EVENT_NUMBERS, .at = at, .dtype = dtype, .data = data, .count = count});
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    return hear(self, (lr_event){.kind = LR_EVENT_BYTES, .at = at, .blob = blob});
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    return hear(self, (lr_event){.kind = LR_EVENT_LIST, .at = at, .form = form, .count = count});
}

static int32_t on_list_of(void *self, uint64_t at, const char *type)
{
    return hear(self, (lr_event){.kind = LR_EVENT_LIST_OF, .at = at, .type = type});
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    return hear(self, (lr_event){.kind = LR_EVENT_MAP, .at = at, .form = form, .count = count});
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    return hear(self, (lr_event){.kind = LR_EVENT_KEY, .at = at, .key = key});
}

static int32_t on_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    return hear(self, (lr_event){.kind = LR_EVENT_VARIANT, .at = at, .key = name, .count = index, .form = payload});
}

static int32_t on_end(void *self, uint64_t at)
{
    return hear(self, (lr_event){.kind = LR_EVENT_END, .at = at});
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    return hear(self, (lr_event){.kind = LR_EVENT_OPTION, .at = at, .form = present});
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *tensor)
{
    return hear(self, (lr_event){.kind = LR_EVENT_TENSOR, .at = at, .tensor = tensor});
}

const rec_visitor lr_listener_visitor = {
    .size = sizeof(rec_visitor),
    .metadata = on_metadata,
    .metadata_value = on_metadata_value,
    .scalar = on_scalar,
    .numbers = on_numbers,
    .bytes = on_bytes,
    .list_begin = on_list,
    .list_of = on_list_of,
    .map_begin = on_map,
    .key = on_key,
    .variant_begin = on_variant,
    .end = on_end,
    .option = on_option,
    .tensor = on_tensor,
};

rec_visitor lr_listener_like(const rec_visitor *to)
{
    rec_visitor v = lr_listener_visitor;
    v.metadata = to->metadata ? v.metadata : NULL;
    v.metadata_value = to->metadata_value ? v.metadata_value : NULL;
    v.numbers = to->numbers ? v.numbers : NULL;
    v.bytes = to->bytes ? v.bytes : NULL;
    v.list_of = to->list_of ? v.list_of : NULL;
    v.variant_begin = to->variant_begin ? v.variant_begin : NULL;
    v.option = to->option ? v.option : NULL;
    v.tensor = to->tensor ? v.tensor : NULL;
    return v;
}

int32_t lr_event_send(const rec_visitor *to, void *self, const lr_event *e)
{
    switch (e->kind) {
    case LR_EVENT_METADATA:
        return to->metadata ? to->metadata(self, e->at, e->key, e->scalar) : REC_OK;
    case LR_EVENT_METADATA_VALUE:
        return to->metadata_value ? to->metadata_value(self, e->at, e->key) : REC_OK;
    case LR_EVENT_SCALAR:
        return to->scalar ? to->scalar(self, e->at, e->scalar) : REC_OK;
    case LR_EVENT_NUMBERS:
        return to->numbers ? to->numbers(self, e->at, e->dtype, e->data, e->count) : REC_OK;
    case LR_EVENT_BYTES:
        return to->bytes ? to->bytes(self, e->at, e->blob) : REC_OK;
    case LR_EVENT_LIST:
        return to->list_begin ? to->list_begin(self, e->at, e->form, e->count) : REC_OK;
    case LR_EVENT_LIST_OF:
        return to->list_of ? to->list_of(self, e->at, e->type) : REC_OK;
    case LR_EVENT_MAP:
        return to->map_begin ? to->map_begin(self, e->at, e->form, e->count) : REC_OK;
    case LR_EVENT_KEY:
        return to->key ? to->key(self, e->at, e->key) : REC_OK;
    case LR_EVENT_VARIANT:
        return to->variant_begin ? to->variant_begin(self, e->at, e->count, e->key, e->form) : REC_OK;
    case LR_EVENT_END:
        return to->end ? to->end(self, e->at) : REC_OK;
    case LR_EVENT_OPTION:
        return to->option ? to->option(self, e->at, e->form) : REC_OK;
    case LR_EVENT_TENSOR:
        return to->tensor ? to->tensor(self, e->at, e->tensor) : REC_OK;
    }
    return REC_OK;
}
