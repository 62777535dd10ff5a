/**
 * Sandbox prices: the same random walk as the server's embedded prices (`server/src/adapters/prices`), which this
 * package must not import. sandbox/test/markets.test.ts compares the two. Prices depend only on the time.
 */

/** Price in US dollars, the key whose walk it follows, and the divisor of that walk (stablecoins move less). */
type BasePrice = Readonly<{ usd: string; walkKey?: string; walkDivisor?: bigint }>

const basePrices: Readonly<Record<string, BasePrice>> = {
  wbtc: { usd: '96310', walkKey: 'btc' },
  cbbtc: { usd: '96350', walkKey: 'btc' },
  btcb: { usd: '96330', walkKey: 'btc' },
  eth: { usd: '3420' },
  weth: { usd: '3420', walkKey: 'eth' },
  wsteth: { usd: '4190', walkKey: 'eth' },
  bnb: { usd: '905' },
  avax: { usd: '17.2' },
  celo: { usd: '0.21' },
  pol: { usd: '0.164' },
  sei: { usd: '0.155' },
  s: { usd: '0.132' },
  link: { usd: '15.1' },
  uni: { usd: '6.9' },
  aave: { usd: '196' },
  arb: { usd: '0.243' },
  op: { usd: '0.352' },
  crv: { usd: '0.44' },
  cake: { usd: '2.4' },
  aero: { usd: '0.82' },
  shib: { usd: '0.0000092' },
  pepe: { usd: '0.0000051' },
  usdt: { usd: '1.0001', walkDivisor: 100n },
  usdc: { usd: '0.9999', walkDivisor: 100n },
  dai: { usd: '0.9998', walkDivisor: 100n },
  eurc: { usd: '1.162', walkDivisor: 20n },
  // Test tokens; no real token has these tickers here.
  levy: { usd: '2.5' },
  mute: { usd: '1', walkDivisor: 100n },
}

const walkScale = 1_000_000_000n
/** Period in seconds and maximum amplitude in parts of 10⁹ of each noise layer. */
const layers = [
  { periodS: 21_600, amplitude: 18_000_000 },
  { periodS: 1_260, amplitude: 5_000_000 },
  { periodS: 75, amplitude: 900_000 },
  { periodS: 8, amplitude: 120_000 },
] as const

/** US dollars × 10¹² per whole coin at a Unix second; null gives the fixed base price. */
export function priceOf(key: string, second: number | null): bigint {
  const base = basePrices[key]
  if (base === undefined) throw new Error(`the sandbox has no price for ${key}`)
  const walk = second === null ? 0n : walkOf(base.walkKey ?? key, second) / (base.walkDivisor ?? 1n)
  return (parseUsd(base.usd) * (walkScale + walk)) / walkScale
}

function parseUsd(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}

/** Value noise: random values on a lattice of each layer's period, interpolated with smoothstep and summed. */
function walkOf(key: string, second: number): bigint {
  let sum = 0
  for (const [layer, { periodS, amplitude }] of layers.entries()) {
    const step = Math.floor(second / periodS)
    const t = (second % periodS) / periodS
    const smooth = t * t * (3 - 2 * t)
    const from = latticeValue(key, layer, step, amplitude)
    sum += from + Math.round((latticeValue(key, layer, step + 1, amplitude) - from) * smooth)
  }
  return BigInt(sum)
}

/** FNV-1a hash of the text, then Murmur3's finalizer. */
function latticeValue(key: string, layer: number, step: number, amplitude: number): number {
  let hash = 0x811c9dc5
  for (const character of `${key}:${layer}:${step}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  const uniform = ((hash ^ (hash >>> 16)) >>> 0) / 0xffffffff
  return Math.round((2 * uniform - 1) * amplitude)
}
