/** ln √1.0001, by which the logarithm of a square root price is divided to get its tick. */
export const HALF_LOG_BASE = Math.log1p(0.0001) / 2
