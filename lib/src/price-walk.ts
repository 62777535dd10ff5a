/**
 * What the sandbox's coins are worth: the same walk as the program's embedded prices (`server/src/adapters/prices`),
 * which this package must not import; a test holds the two together. A function of the time alone.
 */

/** Dollars, whose walk it follows, and by how much it moves less than a coin. */
type Base = Readonly<{ usd: string; walk?: string; calm?: bigint }>

const bases: Readonly<Record<string, Base>> = {
  wbtc: { usd: '96310', walk: 'btc' },
  cbbtc: { usd: '96350', walk: 'btc' },
  btcb: { usd: '96330', walk: 'btc' },
  eth: { usd: '3420' },
  weth: { usd: '3420', walk: 'eth' },
  wsteth: { usd: '4190', walk: 'eth' },
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
  usdt: { usd: '1.0001', calm: 100n },
  usdc: { usd: '0.9999', calm: 100n },
  dai: { usd: '0.9998', calm: 100n },
  eurc: { usd: '1.162', calm: 20n },
  // These two are the sandbox's alone.
  levy: { usd: '2.5' },
  mute: { usd: '1', calm: 100n },
}

const parts = 1_000_000_000n
/** Period in seconds and greatest amplitude in parts of 10⁹ of each layer: slow and wide, fast and small. */
const layers = [
  { periodS: 21_600, amplitude: 18_000_000 },
  { periodS: 1_260, amplitude: 5_000_000 },
  { periodS: 75, amplitude: 900_000 },
  { periodS: 8, amplitude: 120_000 },
] as const

/** Dollars × 10¹² per whole coin. Without a second since 1970: what it is while the sandbox stands still. */
export function priceOf(key: string, second: number | null): bigint {
  const base = bases[key]
  if (base === undefined) throw new Error(`the sandbox has no price of ${key}`)
  const walk = second === null ? 0n : walkOf(base.walk ?? key, second) / (base.calm ?? 1n)
  return (scaled(base.usd) * (parts + walk)) / parts
}

function scaled(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}

/** Value noise: random heights on a lattice of each layer's period, joined by smooth steps, summed. */
function walkOf(key: string, second: number): bigint {
  let sum = 0
  for (const [layer, { periodS, amplitude }] of layers.entries()) {
    const step = Math.floor(second / periodS)
    const t = (second % periodS) / periodS
    const smooth = t * t * (3 - 2 * t)
    const from = height(key, layer, step, amplitude)
    sum += from + Math.round((height(key, layer, step + 1, amplitude) - from) * smooth)
  }
  return BigInt(sum)
}

/** FNV-1a over the text, then mixed (Murmur3's finalizer). */
function height(key: string, layer: number, step: number, amplitude: number): number {
  let hash = 0x811c9dc5
  for (const character of `${key}:${layer}:${step}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  const uniform = ((hash ^ (hash >>> 16)) >>> 0) / 0xffffffff
  return Math.round((2 * uniform - 1) * amplitude)
}
