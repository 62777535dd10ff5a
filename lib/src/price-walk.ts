/** USD per coin; `walkKey`: the key whose walk it follows, so that wbtc stays beside btc; `walkDivisor`: divides the movement. */
export type BasePrice = Readonly<{ usd: string; spreadBps: bigint; walkKey?: string; walkDivisor?: bigint }>

const major = (usd: string, walkKey?: string): BasePrice => ({
  usd,
  spreadBps: 4n,
  ...(walkKey === undefined ? {} : { walkKey }),
})
const minor = (usd: string): BasePrice => ({ usd, spreadBps: 10n })
/** A hundredth of the movement: within 0.03 % of a dollar. */
const stable = (usd: string): BasePrice => ({ usd, spreadBps: 2n, walkDivisor: 100n })

/** Invented prices of late 2026, for the sandbox's servers and chains. No real market has them. */
export const basePrices: Readonly<Record<string, BasePrice>> = {
  btc: major('96400'),
  wbtc: major('96310', 'btc'),
  cbbtc: major('96350', 'btc'),
  btcb: major('96330', 'btc'),
  eth: major('3420'),
  weth: major('3420', 'eth'),
  wsteth: major('4190', 'eth'),
  steth: major('3415', 'eth'),
  sol: major('168'),
  bnb: major('905'),
  xrp: major('2.24'),
  ltc: major('104'),
  bch: major('540'),
  doge: major('0.171'),
  trx: major('0.284'),
  ton: major('2.05'),
  xlm: major('0.262'),
  xmr: major('382'),
  ada: major('0.52'),
  dot: minor('2.9'),
  avax: major('17.2'),
  celo: minor('0.21'),
  pol: minor('0.164'),
  matic: minor('0.164'),
  sei: minor('0.155'),
  s: minor('0.132'),
  sui: major('1.92'),
  link: major('15.1'),
  uni: minor('6.9'),
  aave: minor('196'),
  arb: minor('0.243'),
  op: minor('0.352'),
  ldo: minor('0.79'),
  crv: minor('0.44'),
  mkr: minor('1560'),
  comp: minor('34.5'),
  grt: minor('0.058'),
  cake: minor('2.4'),
  joe: minor('0.12'),
  aero: minor('0.82'),
  jup: minor('0.27'),
  bonk: minor('0.0000121'),
  wif: minor('0.43'),
  deep: minor('0.03'),
  cetus: minor('0.062'),
  wal: minor('0.24'),
  ns: minor('0.071'),
  blue: minor('0.058'),
  sca: minor('0.077'),
  turbos: minor('0.0019'),
  shib: minor('0.0000092'),
  pepe: minor('0.0000051'),
  floki: minor('0.0000523'),
  usdt: stable('1.0001'),
  usdc: stable('0.9999'),
  dai: stable('0.9998'),
  usds: stable('0.9999'),
  busd: stable('0.9997'),
  fdusd: stable('0.9985'),
  tusd: stable('0.9978'),
  pyusd: stable('0.9997'),
  usde: stable('0.9996'),
  cusd: stable('0.9989'),
  eurc: { usd: '1.162', spreadBps: 4n, walkDivisor: 20n },
}

/** Parts per 10^9: integers, so that every process on every machine computes the same walk. */
const PPB = 1_000_000_000n
/** Period and largest amplitude of each layer: slow and wide first, fast and small last. */
const LAYERS = [
  { periodS: 21_600, amplitudePpb: 18_000_000 },
  { periodS: 1_260, amplitudePpb: 5_000_000 },
  { periodS: 75, amplitudePpb: 900_000 },
  { periodS: 8, amplitudePpb: 120_000 },
] as const

/** USD × 10^12 per whole coin at a second since 1970. A function of the time alone; null gives the base price. */
export function middlePrice(key: string, base: BasePrice, second: number | null): bigint {
  const walk = second === null ? 0n : walkPpb(base.walkKey ?? key, second) / (base.walkDivisor ?? 1n)
  return (parseUsd(base.usd) * (PPB + walk)) / PPB
}

/** Decimal dollars × 10^12. */
function parseUsd(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}

/** Value noise: random heights on a lattice of each layer's period, joined by smooth steps, summed. */
function walkPpb(key: string, second: number): bigint {
  let sum = 0
  for (const [layer, { periodS, amplitudePpb }] of LAYERS.entries()) {
    const step = Math.floor(second / periodS)
    const t = (second % periodS) / periodS
    const smooth = t * t * (3 - 2 * t)
    const from = latticeValue(key, layer, step, amplitudePpb)
    const to = latticeValue(key, layer, step + 1, amplitudePpb)
    sum += from + Math.round((to - from) * smooth)
  }
  return BigInt(sum)
}

/** A height between −amplitude and +amplitude: FNV-1a over the text, then mixed (Murmur3's finalizer). */
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
