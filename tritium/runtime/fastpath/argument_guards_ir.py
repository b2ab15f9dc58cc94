"""Guards of arguments, as LLVM text (see `text`).

A guard's function takes (guard, value, frame) and returns 0 if the value is as expected; its bits are then stored in
the frame, which is the grid, the stream and a copy of the parameters. No exception is left set, and nothing is
allocated.
"""

from __future__ import annotations

__all__ = ["ARGUMENT_GUARDS"]

ARGUMENT_GUARDS = """
; Store the bits of an argument in the parameters
define internal void @tt.store(ptr %guard, ptr %frame, i64 %v) {
entry:
  %slot = get i64 %guard.slot                             ; offset: 32 bits, size: 16, mask: 7, late: 1, want: 8
  %at = and i64 %slot, 4294967295
  %above = lshr i64 %slot, 32
  %size = trunc i64 %above to i16
  %to = getelementptr i8, ptr %frame, i64 %at
  switch i16 %size, label %eight [ i16 4, label %four
                                   i16 2, label %two
                                   i16 1, label %one ]
eight:
  store i64 %v, ptr %to, align 1
  ret void
four:
  %v4 = trunc i64 %v to i32
  store i32 %v4, ptr %to, align 1
  ret void
two:
  %v2 = trunc i64 %v to i16
  store i16 %v2, ptr %to, align 1
  ret void
one:
  %v1 = trunc i64 %v to i8
  store i8 %v1, ptr %to
  ret void
}

; Store a value of the required divisibility: by 16 (mask 15, want 0), not by 16 (15, 1), either (0, 0)
define internal i32 @tt.divisible(ptr %guard, ptr %frame, i64 %v) {
entry:
  %slot = get i64 %guard.slot
  %masked = lshr i64 %slot, 48
  %mask = and i64 %masked, 127
  %want = lshr i64 %slot, 56
  %low = and i64 %v, %mask
  %some = icmp ne i64 %low, 0
  %found = zext i1 %some to i64
  %right = icmp eq i64 %found, %want
  br i1 %right, label %good, label %bad
good:
  call void @tt.store(ptr %guard, ptr %frame, i64 %v)
  ret i32 0
bad:
  ret i32 1
}

define internal i1 @tt.of_type(ptr %guard, ptr %value) {
  %list = getelementptr i8, ptr %value, i64 0
  %found = get ptr %list.type
  %type = get ptr %guard.type
  %same = icmp eq ptr %found, %type
  ret i1 %same
}

; The same object
define i32 @tt.guard_is(ptr %guard, ptr %value, ptr %frame) {
  %object = get ptr %guard.object
  %other = icmp ne ptr %value, %object
  %result = zext i1 %other to i32
  ret i32 %result
}

; An object of the same type and value
define i32 @tt.guard_equal(ptr %guard, ptr %value, ptr %frame) {
entry:
  %object = get ptr %guard.object
  %same = icmp eq ptr %value, %object
  br i1 %same, label %yes, label %look
look:
  %alike = call i1 @tt.of_type(ptr %guard, ptr %value)
  br i1 %alike, label %compare, label %no
compare:
  %equal = call i32 @PyObject_RichCompareBool(ptr %value, ptr %object, i32 2)
  %one = icmp eq i32 %equal, 1
  br i1 %one, label %yes, label %no
yes:
  ret i32 0
no:
  call void @PyErr_Clear()
  ret i32 1
}

; A float of the same bits
define i32 @tt.guard_bits(ptr %guard, ptr %value, ptr %frame) {
entry:
  %alike = call i1 @tt.of_type(ptr %guard, ptr %value)
  br i1 %alike, label %compare, label %no
compare:
  %v = call double @PyFloat_AsDouble(ptr %value)
  %bits = bitcast double %v to i64
  %known = get i64 %guard.low
  %same = icmp eq i64 %bits, %known
  br i1 %same, label %yes, label %no
yes:
  ret i32 0
no:
  ret i32 1
}

; An int between low and high; where `call` is not 0 it may not be `object`, where `extra` is not, fit into 32 bits
define i32 @tt.guard_integer(ptr %guard, ptr %value, ptr %frame) {
entry:
  %over = alloca i32, align 4
  %alike = call i1 @tt.of_type(ptr %guard, ptr %value)
  br i1 %alike, label %read, label %no
no:
  ret i32 1
read:
  %v = call i64 @PyLong_AsLongLongAndOverflow(ptr %value, ptr %over)
  %overflow = load i32, ptr %over
  %fits = icmp eq i32 %overflow, 0
  %low = get i64 %guard.low
  %high = get i64 %guard.high
  %above = icmp sge i64 %v, %low
  %below = icmp sle i64 %v, %high
  %inside = and i1 %above, %below
  %number = and i1 %fits, %inside
  br i1 %number, label %special, label %no
special:
  %not_one = get i64 %guard.object
  %excluded = icmp eq i64 %v, %not_one
  %guards = get i64 %guard.call
  %guarded = icmp ne i64 %guards, 0
  %constant = and i1 %excluded, %guarded
  %wide = get i64 %guard.extra
  %only_wide = icmp ne i64 %wide, 0
  %short = trunc i64 %v to i32
  %again = sext i32 %short to i64
  %narrow = icmp eq i64 %again, %v
  %too_narrow = and i1 %only_wide, %narrow
  %other = or i1 %constant, %too_narrow
  br i1 %other, label %no, label %keep
keep:
  %result = call i32 @tt.divisible(ptr %guard, ptr %frame, i64 %v)
  ret i32 %result
}

; An int of 64 bits without a sign, at least low
define i32 @tt.guard_unsigned(ptr %guard, ptr %value, ptr %frame) {
entry:
  %alike = call i1 @tt.of_type(ptr %guard, ptr %value)
  br i1 %alike, label %read, label %no
no:
  ret i32 1
read:
  %v = call i64 @PyLong_AsUnsignedLongLong(ptr %value)
  %largest = icmp eq i64 %v, -1
  br i1 %largest, label %sure, label %range
sure:                                                  ; the largest, or an error
  call void @PyErr_Clear()
  ret i32 1
range:
  %low = get i64 %guard.low
  %above = icmp uge i64 %v, %low
  %not_one = get i64 %guard.object
  %excluded = icmp eq i64 %v, %not_one
  %guards = get i64 %guard.call
  %guarded = icmp ne i64 %guards, 0
  %constant = and i1 %excluded, %guarded
  %different = xor i1 %constant, true
  %good = and i1 %above, %different
  br i1 %good, label %keep, label %no
keep:
  %result = call i32 @tt.divisible(ptr %guard, ptr %frame, i64 %v)
  ret i32 %result
}

; A float, as 32 or 64 bits
define i32 @tt.guard_float(ptr %guard, ptr %value, ptr %frame) {
entry:
  %alike = call i1 @tt.of_type(ptr %guard, ptr %value)
  br i1 %alike, label %read, label %no
no:
  ret i32 1
read:
  %v = call double @PyFloat_AsDouble(ptr %value)
  %slot = get i64 %guard.slot
  %size = and i64 %slot, 281470681743360                ; its 16 bits
  %double = icmp eq i64 %size, 34359738368              ; 8
  br i1 %double, label %whole, label %single
whole:
  %bits = bitcast double %v to i64
  call void @tt.store(ptr %guard, ptr %frame, i64 %bits)
  ret i32 0
single:
  %short = fptrunc double %v to float
  %bits4 = bitcast float %short to i32
  %wide = zext i32 %bits4 to i64
  call void @tt.store(ptr %guard, ptr %frame, i64 %wide)
  ret i32 0
}

define i32 @tt.guard_bool(ptr %guard, ptr %value, ptr %frame) {
entry:
  %alike = call i1 @tt.of_type(ptr %guard, ptr %value)
  br i1 %alike, label %read, label %no
no:
  ret i32 1
read:
  %true = icmp eq ptr %value, @_Py_TrueStruct
  %v = zext i1 %true to i64
  call void @tt.store(ptr %guard, ptr %frame, i64 %v)
  ret i32 0
}

; A NumPy array: address and element type are read from its structure
define i32 @tt.guard_numpy(ptr %guard, ptr %array, ptr %frame) {
entry:
  %alike = call i1 @tt.of_type(ptr %guard, ptr %array)
  br i1 %alike, label %read, label %no
no:
  ret i32 1
read:
  %dtype = get ptr %array.dtype
  %known = get ptr %guard.object
  %same = icmp eq ptr %dtype, %known
  br i1 %same, label %address, label %no
address:
  %v = get i64 %array.data
  %result = call i32 @tt.divisible(ptr %guard, ptr %frame, i64 %v)
  ret i32 %result
}

; A NumPy array that the kernel writes: it must be writeable
define i32 @tt.guard_numpy_stored(ptr %guard, ptr %array, ptr %frame) {
entry:
  %alike = call i1 @tt.of_type(ptr %guard, ptr %array)    ; only then it has flags
  br i1 %alike, label %read, label %no
no:
  ret i32 1
read:
  %flags = get i32 %array.flags
  %writeable = and i32 %flags, $writeable
  %may = icmp ne i32 %writeable, 0
  br i1 %may, label %rest, label %no
rest:
  %result = call i32 @tt.guard_numpy(ptr %guard, ptr %array, ptr %frame)
  ret i32 %result
}

; The word at an offset in an object
define internal i64 @tt.word(ptr %object, i64 %place) alwaysinline {
  %at = getelementptr i8, ptr %object, i64 %place
  %word = load i64, ptr %at
  ret i64 %word
}

; A tensor of torch whose elements are what memory holds (no `marks` are set: not the negative or the conjugate of it).
; One in the `state` of that which the guard was made for (`object`; 0: none), of no special kind and with elements, is
; read from memory: `extra` has the bytes of an element in its upper half. For all others torch's functions are called.
define i32 @tt.guard_tensor(ptr %guard, ptr %value, ptr %frame) {
entry:
  %alike = call i1 @tt.of_type(ptr %guard, ptr %value)
  br i1 %alike, label %look, label %no
no:
  ret i32 1
look:
  %torch = get ptr %guard.call
  %at = get i64 %torch.at
  %object_at = getelementptr i8, ptr %value, i64 %at
  %object = load ptr, ptr %object_at
  %marks_at = get i64 %torch.marks_at
  %word = call i64 @tt.word(ptr %object, i64 %marks_at)
  %marks = get i64 %torch.marks
  %marked = and i64 %word, %marks
  %unmarked = icmp eq i64 %marked, 0
  br i1 %unmarked, label %read, label %no
read:
  %known = get i64 %guard.object
  %unknown = icmp eq i64 %known, 0
  br i1 %unknown, label %ask, label %kind
kind:
  %methods = call i64 @tt.word(ptr %object, i64 0)
  %usual = get i64 %torch.methods
  %plain = icmp eq i64 %methods, %usual
  br i1 %plain, label %state, label %ask
state:
  %state_at = get i64 %torch.state
  %whole = call i64 @tt.word(ptr %object, i64 %state_at)
  %now = and i64 %whole, $state_mask
  %same = icmp eq i64 %now, %known
  %elements_at = get i64 %torch.elements
  %elements = call i64 @tt.word(ptr %object, i64 %elements_at)
  %some = icmp ne i64 %elements, 0
  %readable = and i1 %same, %some
  br i1 %readable, label %memory, label %ask
memory:
  %storage_at = get i64 %torch.storage
  %storage_word = call i64 @tt.word(ptr %object, i64 %storage_at)
  %storage = inttoptr i64 %storage_word to ptr
  %flags_at = get i64 %torch.flags
  %flags = call i64 @tt.word(ptr %storage, i64 %flags_at)
  %special = get i64 %torch.special
  %guarded = and i64 %flags, %special
  %free = icmp eq i64 %guarded, 0
  br i1 %free, label %address, label %ask
address:
  %address_at = get i64 %torch.address
  %begin = call i64 @tt.word(ptr %storage, i64 %address_at)
  %offset_at = get i64 %torch.offset
  %offset = call i64 @tt.word(ptr %object, i64 %offset_at)
  %extra = get i64 %guard.extra
  %bytes = lshr i64 %extra, 32
  %from = mul i64 %offset, %bytes
  %v = add i64 %begin, %from
  %result = call i32 @tt.divisible(ptr %guard, ptr %frame, i64 %v)
  ret i32 %result
ask:
  %asked = call i32 @tt.ask_torch(ptr %guard, ptr %torch, ptr %object_at, ptr %frame)
  ret i32 %asked
}

; Call one of torch's functions for a tensor
define internal i64 @tt.torch(ptr %function, ptr %tensor) alwaysinline {
  %found = alloca i64, align 8
  store i64 0, ptr %found
  %status = call i32 %function(ptr %tensor, ptr %found)
  %value = load i64, ptr %found
  %fine = icmp eq i32 %status, 0
  %result = select i1 %fine, i64 %value, i64 -1
  ret i64 %result
}

; By torch's functions: element type (`low`), kind of device (`high`) and its index (the lower half of `extra`;
; below 0: there is one)
define internal i32 @tt.ask_torch(ptr %guard, ptr %torch, ptr %tensor, ptr %frame) noinline {
entry:
  %of_dtype = get ptr %torch.dtype
  %dtype = call i64 @tt.torch(ptr %of_dtype, ptr %tensor)
  %known = get i64 %guard.low
  %same = icmp eq i64 %dtype, %known
  br i1 %same, label %where, label %no
no:
  ret i32 1
where:
  %of_device = get ptr %torch.device_type
  %device = call i64 @tt.torch(ptr %of_device, ptr %tensor)
  %kind = get i64 %guard.high
  %here = icmp eq i64 %device, %kind
  br i1 %here, label %which, label %no
which:
  %extra = get i64 %guard.extra
  %number = trunc i64 %extra to i32
  %single = icmp slt i32 %number, 0
  br i1 %single, label %address, label %index
index:
  %of_index = get ptr %torch.device_index
  %found = call i64 @tt.torch(ptr %of_index, ptr %tensor)
  %short = trunc i64 %found to i32
  %right = icmp eq i32 %short, %number
  br i1 %right, label %address, label %no
address:
  %of_address = get ptr %torch.data_ptr
  %v = call i64 @tt.torch(ptr %of_address, ptr %tensor)
  %refused = icmp eq i64 %v, -1
  br i1 %refused, label %no, label %keep
keep:
  %result = call i32 @tt.divisible(ptr %guard, ptr %frame, i64 %v)
  ret i32 %result
}

; An array by its attributes: high(value) is `extra`, value.dtype is `object`, call(value) the address
define i32 @tt.guard_array(ptr %guard, ptr %value, ptr %frame) {
entry:
  %alike = call i1 @tt.of_type(ptr %guard, ptr %value)
  br i1 %alike, label %place, label %no
no:
  call void @PyErr_Clear()
  ret i32 1
place:
  %where = get ptr %guard.high
  %found = call ptr @tt.call1(ptr %where, ptr %value)
  %unplaced = icmp eq ptr %found, null
  br i1 %unplaced, label %no, label %placed
placed:
  call void @Py_DecRef(ptr %found)                      ; it is only compared
  %expected = get ptr %guard.extra
  %here = icmp eq ptr %found, %expected
  br i1 %here, label %kind, label %no
kind:
  %word = get ptr %guard.low
  %dtype = call ptr @PyObject_GetAttr(ptr %value, ptr %word)
  %untyped = icmp eq ptr %dtype, null
  br i1 %untyped, label %no, label %typed
typed:
  call void @Py_DecRef(ptr %dtype)
  %known = get ptr %guard.object
  %same = icmp eq ptr %dtype, %known
  br i1 %same, label %address, label %no
address:
  %result = call i32 @tt.guard_address(ptr %guard, ptr %value, ptr %frame)
  ret i32 %result
}

; call(value), a new reference; null, with nothing raised, for None, an error and a value of another type
define internal ptr @tt.asked(ptr %guard, ptr %value) {
entry:
  %alike = call i1 @tt.of_type(ptr %guard, ptr %value)
  br i1 %alike, label %ask, label %no
ask:
  %function = get ptr %guard.call
  %found = call ptr @tt.call1(ptr %function, ptr %value)
  %failed = icmp eq ptr %found, null
  br i1 %failed, label %error, label %look
look:
  %none = icmp eq ptr %found, @_Py_NoneStruct
  br i1 %none, label %other, label %yes
yes:
  ret ptr %found
other:
  call void @Py_DecRef(ptr %found)
  ret ptr null
error:
  call void @PyErr_Clear()
  ret ptr null
no:
  ret ptr null
}

; call(value) is the address, or None for a value of another kind
define i32 @tt.guard_address(ptr %guard, ptr %value, ptr %frame) {
entry:
  %found = call ptr @tt.asked(ptr %guard, ptr %value)
  %other = icmp eq ptr %found, null
  br i1 %other, label %no, label %read
read:
  %v = call i64 @PyLong_AsUnsignedLongLongMask(ptr %found)
  call void @Py_DecRef(ptr %found)
  %error = call ptr @PyErr_Occurred()
  %good = icmp eq ptr %error, null
  br i1 %good, label %keep, label %raised
keep:
  %result = call i32 @tt.divisible(ptr %guard, ptr %frame, i64 %v)
  ret i32 %result
raised:
  call void @PyErr_Clear()
  br label %no
no:
  ret i32 1
}

; call(value) is the `size` bytes that the kernel takes, or None
define i32 @tt.guard_bytes(ptr %guard, ptr %value, ptr %frame) {
entry:
  %found = call ptr @tt.asked(ptr %guard, ptr %value)
  %other = icmp eq ptr %found, null
  br i1 %other, label %no, label %copy
copy:
  %result = call i32 @tt.copy(ptr %guard, ptr %found, ptr %frame)
  ret i32 %result
no:
  ret i32 1
}

; call(the `high` bytes of the frame at `low`) is the `size` bytes that the kernel takes, or None: what is made from the
; parameters before it
define i32 @tt.guard_derived(ptr %guard, ptr %value, ptr %frame) {
entry:
  %start = get i64 %guard.low
  %length = get i64 %guard.high
  %from = getelementptr i8, ptr %frame, i64 %start
  %key = call ptr @PyBytes_FromStringAndSize(ptr %from, i64 %length)
  %refused = icmp eq ptr %key, null
  br i1 %refused, label %no, label %ask
ask:
  %function = get ptr %guard.call
  %found = call ptr @tt.call1(ptr %function, ptr %key)
  call void @Py_DecRef(ptr %key)
  %failed = icmp eq ptr %found, null
  br i1 %failed, label %no, label %copy
copy:
  %result = call i32 @tt.copy(ptr %guard, ptr %found, ptr %frame)
  ret i32 %result
no:
  call void @PyErr_Clear()
  ret i32 1
}

; Store the bytes of an object in the parameters and release it; 1 where it is no bytes of the size of the slot
define internal i32 @tt.copy(ptr %guard, ptr %found, ptr %frame) {
entry:
  %bytes = call i64 @PyBytes_Size(ptr %found)           ; -1 and an error for what is no bytes
  %slot = get i64 %guard.slot
  %above = lshr i64 %slot, 32
  %size = and i64 %above, 65535
  %right = icmp eq i64 %bytes, %size
  br i1 %right, label %copy, label %wrong
copy:
  %from = call ptr @PyBytes_AsString(ptr %found)
  %at = and i64 %slot, 4294967295
  %to = getelementptr i8, ptr %frame, i64 %at
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  call void @Py_DecRef(ptr %found)
  ret i32 0
wrong:
  call void @PyErr_Clear()
  call void @Py_DecRef(ptr %found)
  ret i32 1
}

; The dict `object` has `extra` under the name `high` (null: nothing)
define i32 @tt.guard_entry(ptr %guard, ptr %value, ptr %frame) {
  %dict = get ptr %guard.object
  %name = get ptr %guard.high
  %found = call ptr @PyDict_GetItem(ptr %dict, ptr %name)
  %expected = get ptr %guard.extra
  %other = icmp ne ptr %found, %expected
  %result = zext i1 %other to i32
  ret i32 %result
}

; call(object) is `extra`
define i32 @tt.guard_holds(ptr %guard, ptr %value, ptr %frame) {
entry:
  %function = get ptr %guard.call
  %object = get ptr %guard.object
  %found = call ptr @tt.call1(ptr %function, ptr %object)
  %failed = icmp eq ptr %found, null
  br i1 %failed, label %no, label %look
look:
  call void @Py_DecRef(ptr %found)                      ; it is only compared
  %expected = get ptr %guard.extra
  %same = icmp eq ptr %found, %expected
  br i1 %same, label %yes, label %no
yes:
  ret i32 0
no:
  call void @PyErr_Clear()
  ret i32 1
}
"""
