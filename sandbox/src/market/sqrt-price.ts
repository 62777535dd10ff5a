/** sqrtPriceX96 of a pool: √(token1 / token0) × 2⁹⁶ in base units. Both prices must have the same scale. */
export function sqrtPriceX96(token0: PricedToken, token1: PricedToken): bigint {
  const numerator = token0.price * 10n ** BigInt(token1.decimals)
  const denominator = token1.price * 10n ** BigInt(token0.decimals)
  return squareRoot((numerator << 192n) / denominator)
}

export type PricedToken = Readonly<{ price: bigint; decimals: number }>

export function squareRoot(square: bigint): bigint {
  if (square < 2n) return square
  let root = 1n << BigInt(Math.ceil(square.toString(2).length / 2))
  for (;;) {
    const next = (root + square / root) >> 1n
    if (next >= root) return root
    root = next
  }
}
