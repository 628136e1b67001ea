;; Finds the field lines of a head (RFC 9112, 5), sixteen bytes at a time. field-lines.ts says what it is given and what it gives.
(module
  ;; From 0: the place at which the search ended, what is there, eight bytes of nothing; then 16 bytes of each line. From 65536: text.
  (import "gatewright" "memory" (memory 3))

  ;; Finds lines in [at, end), at most `most`. Up to 15 bytes behind `end` are read, but not believed. Returns how many there are.
  (func (export "find") (param $at i32) (param $end i32) (param $most i32) (result i32)
    (local $row i32)
    (local $last_row i32)
    (local $i i32)
    (local $name_end i32)
    (local $value_start i32)
    (local $value_end i32)
    (local $next i32)
    (local $byte i32)
    (local $others i32)
    (local $bytes v128)
    (local $low v128)
    (local $high v128)
    (local $low_bits v128)
    (local $controls v128)
    (local $tab v128)
    (local $delete v128)

    ;; A byte is part of a token (RFC 9110, 5.6.2) when the entry of its lower four bits has the bit of its upper four.
    (local.set $low (v128.const i8x16 0xe8 0xfc 0xf8 0xfc 0xfc 0xfc 0xfc 0xfc 0xf8 0xf8 0xf4 0x54 0xd0 0x54 0xf4 0x70))
    (local.set $high (v128.const i8x16 1 2 4 8 16 32 64 128 0 0 0 0 0 0 0 0))
    (local.set $low_bits (i8x16.splat (i32.const 0x0f)))
    (local.set $controls (i8x16.splat (i32.const 0x1f)))
    (local.set $tab (i8x16.splat (i32.const 0x09)))
    (local.set $delete (i8x16.splat (i32.const 0x7f)))

    (local.set $row (i32.const 16))
    (local.set $last_row (i32.add (i32.const 16) (i32.shl (local.get $most) (i32.const 4))))
    (block $done
      (loop $line
        (local.set $next (i32.const 0))
        (br_if $done (i32.and (i32.lt_u (local.get $at) (local.get $end)) (i32.eq (i32.load8_u (local.get $at)) (i32.const 13))))
        (local.set $next (i32.const 3))
        (br_if $done (i32.eq (local.get $row) (local.get $last_row)))

        ;; The name: until a byte that is no part of a token.
        (local.set $i (local.get $at))
        (block $found
          (loop $block
            (local.set $bytes (v128.load (local.get $i)))
            (local.set $others
              (i8x16.bitmask
                (i8x16.eq
                  (v128.and
                    (i8x16.swizzle (local.get $low) (v128.and (local.get $bytes) (local.get $low_bits)))
                    (i8x16.swizzle
                      (local.get $high)
                      (v128.and (i16x8.shr_u (local.get $bytes) (i32.const 4)) (local.get $low_bits))))
                  (v128.const i64x2 0 0))))
            (br_if $found (local.get $others))
            (local.set $i (i32.add (local.get $i) (i32.const 16)))
            (br_if $block (i32.lt_u (local.get $i) (local.get $end)))))
        (local.set $name_end (i32.add (local.get $i) (i32.ctz (local.get $others))))
        (local.set $next (i32.const 1))
        (br_if $done (i32.ge_u (local.get $name_end) (local.get $end)))
        ;; Refuses a space before the colon and a folded line, too.
        (local.set $next (i32.const 2))
        (br_if $done
          (i32.or
            (i32.ne (i32.load8_u (local.get $name_end)) (i32.const 58))
            (i32.eq (local.get $name_end) (local.get $at))))

        ;; Spaces and tabs before the value.
        (local.set $value_start (local.get $name_end))
        (loop $space
          (local.set $value_start (i32.add (local.get $value_start) (i32.const 1)))
          (local.set $byte (i32.load8_u (local.get $value_start)))
          (br_if $space
            (i32.and
              (i32.or (i32.eq (local.get $byte) (i32.const 32)) (i32.eq (local.get $byte) (i32.const 9)))
              (i32.lt_u (local.get $value_start) (local.get $end)))))

        ;; The value: until a control character that is no tab (RFC 9110, 5.5).
        (local.set $i (local.get $value_start))
        (block $found
          (loop $block
            (local.set $bytes (v128.load (local.get $i)))
            (local.set $others
              (i8x16.bitmask
                (v128.or
                  (v128.andnot
                    (i8x16.eq (i8x16.max_u (local.get $bytes) (local.get $controls)) (local.get $controls))
                    (i8x16.eq (local.get $bytes) (local.get $tab)))
                  (i8x16.eq (local.get $bytes) (local.get $delete)))))
            (br_if $found (local.get $others))
            (local.set $i (i32.add (local.get $i) (i32.const 16)))
            (br_if $block (i32.lt_u (local.get $i) (local.get $end)))))
        (local.set $i (i32.add (local.get $i) (i32.ctz (local.get $others))))
        (local.set $next (i32.const 1))
        (br_if $done (i32.ge_u (local.get $i) (local.get $end)))
        (local.set $next (i32.const 2))
        (br_if $done (i32.ne (i32.load8_u (local.get $i)) (i32.const 13)))
        (local.set $next (i32.const 1))
        (br_if $done (i32.eq (i32.add (local.get $i) (i32.const 1)) (local.get $end)))
        (local.set $next (i32.const 2))
        (br_if $done (i32.ne (i32.load8_u offset=1 (local.get $i)) (i32.const 10)))

        ;; Spaces and tabs behind the value.
        (local.set $value_end (i32.add (local.get $i) (i32.const 1)))
        (loop $space
          (local.set $value_end (i32.sub (local.get $value_end) (i32.const 1)))
          (local.set $byte (i32.load8_u (i32.sub (local.get $value_end) (i32.const 1))))
          (br_if $space
            (i32.and
              (i32.or (i32.eq (local.get $byte) (i32.const 32)) (i32.eq (local.get $byte) (i32.const 9)))
              (i32.gt_u (local.get $value_end) (local.get $value_start)))))

        (i32.store (local.get $row) (local.get $at))
        (i32.store offset=4 (local.get $row) (local.get $name_end))
        (i32.store offset=8 (local.get $row) (local.get $value_start))
        (i32.store offset=12 (local.get $row) (local.get $value_end))
        (local.set $row (i32.add (local.get $row) (i32.const 16)))
        (local.set $at (i32.add (local.get $i) (i32.const 2)))
        (br $line)))
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $next))
    (i32.sub (i32.shr_u (local.get $row) (i32.const 4)) (i32.const 1))))
