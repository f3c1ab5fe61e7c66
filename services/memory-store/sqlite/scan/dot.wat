;; Cosines of rounded vectors with a query (WebAssembly SIMD). A vector is `length` components of int8,
;; `length` a multiple of 32, and behind them as float32 what one of them is worth; 16 bytes are taken
;; for that. The query has int16 components. The sums fit: 127 * 127 * 384 is below 2^23.
(module
  (memory (import "env" "memory") 1)

  (func $dot (param $vector i32) (param $query i32) (param $length i32) (result i32)
    (local $end i32) (local $even v128) (local $odd v128)
    (local.set $end (i32.add (local.get $vector) (local.get $length)))
    (loop $next
      (local.set $even
        (i32x4.add (local.get $even)
          (i32x4.add
            (i32x4.dot_i16x8_s
              (v128.load8x8_s (local.get $vector))
              (v128.load (local.get $query)))
            (i32x4.dot_i16x8_s
              (v128.load8x8_s offset=16 (local.get $vector))
              (v128.load offset=32 (local.get $query))))))
      (local.set $odd
        (i32x4.add (local.get $odd)
          (i32x4.add
            (i32x4.dot_i16x8_s
              (v128.load8x8_s offset=8 (local.get $vector))
              (v128.load offset=16 (local.get $query)))
            (i32x4.dot_i16x8_s
              (v128.load8x8_s offset=24 (local.get $vector))
              (v128.load offset=48 (local.get $query))))))
      (local.set $vector (i32.add (local.get $vector) (i32.const 32)))
      (local.set $query (i32.add (local.get $query) (i32.const 64)))
      (br_if $next (i32.lt_u (local.get $vector) (local.get $end))))
    (local.set $even (i32x4.add (local.get $even) (local.get $odd)))
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $even)) (i32x4.extract_lane 1 (local.get $even)))
      (i32.add (i32x4.extract_lane 2 (local.get $even)) (i32x4.extract_lane 3 (local.get $even)))))

  ;; Raises each of `count` cosines at `out` to that of its vector, from `from` on, with the query,
  ;; where that is higher. `worth` is what a component of the query is worth.
  (func (export "raise")
    (param $from i32) (param $count i32) (param $query i32) (param $worth f32) (param $out i32)
    (param $length i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $out) (i32.mul (local.get $count) (i32.const 4))))
    (loop $next
      (if (i32.lt_u (local.get $out) (local.get $end))
        (then
          (f32.store (local.get $out)
            (f32.max
              (f32.load (local.get $out))
              (f32.mul
                (f32.convert_i32_s
                  (call $dot (local.get $from) (local.get $query) (local.get $length)))
                (f32.mul
                  (f32.load (i32.add (local.get $from) (local.get $length)))
                  (local.get $worth)))))
          (local.set $from
            (i32.add (local.get $from) (i32.add (local.get $length) (i32.const 16))))
          (local.set $out (i32.add (local.get $out) (i32.const 4)))
          (br $next))))))
