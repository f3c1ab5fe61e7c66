;; Dot products of int8 vectors, 16 components at a time (WebAssembly SIMD). `stride` is a vector's
;; length in bytes, a multiple of 16. The sums fit: 127 * 127 * 384 is below 2^23.
(module
  (memory (import "env" "memory") 1)

  (func $dot (param $a i32) (param $b i32) (param $stride i32) (result i32)
    (local $end i32) (local $sum v128) (local $x v128) (local $y v128)
    (local.set $end (i32.add (local.get $a) (local.get $stride)))
    (loop $next
      (local.set $x (v128.load (local.get $a)))
      (local.set $y (v128.load (local.get $b)))
      (local.set $sum
        (i32x4.add (local.get $sum)
          (i32x4.add
            (i32x4.extadd_pairwise_i16x8_s
              (i16x8.extmul_low_i8x16_s (local.get $x) (local.get $y)))
            (i32x4.extadd_pairwise_i16x8_s
              (i16x8.extmul_high_i8x16_s (local.get $x) (local.get $y))))))
      (local.set $a (i32.add (local.get $a) (i32.const 16)))
      (local.set $b (i32.add (local.get $b) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $a) (local.get $end))))
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
      (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))

  ;; Writes the dot product of the query and each of `count` vectors, from `from` on, to `out`.
  (func (export "scan")
    (param $from i32) (param $count i32) (param $query i32) (param $out i32) (param $stride i32)
    (local $end i32)
    (if (i32.eqz (local.get $count)) (then (return)))
    (local.set $end
      (i32.add (local.get $from) (i32.mul (local.get $count) (local.get $stride))))
    (loop $next
      (i32.store (local.get $out)
        (call $dot (local.get $from) (local.get $query) (local.get $stride)))
      (local.set $from (i32.add (local.get $from) (local.get $stride)))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (br_if $next (i32.lt_u (local.get $from) (local.get $end))))))
