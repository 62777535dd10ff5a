import { type Hex, toEventSelector, toFunctionSelector } from 'viem'
import { type CurveStablePool, curveStable, invariantNow } from '../../swap/routing/pools/curve-stable.ts'
import type { DexReader, PoolIdentity, ReadContext, TrackedPool } from './tracked-pool.ts'
import { addressOf, callOf, listOf, wordAt, wordsOf } from './abi-words.ts'

const event = (text: string) => toEventSelector(text)
/** Where the coins stand in a list of their own: StableSwap-NG. */
const CREATED = event('PlainPoolDeployed(address[],uint256,uint256,address)')
/** Where there is room for four: the factories before. */
const CREATED_OLD = event('PlainPoolDeployed(address[4],uint256,uint256,address)')
const OLD_COINS_MAX = 4
/** Of the registry, for pools that no factory made. */
const ADDED = event('PoolAdded(address,bytes)')
const REGISTRY_COINS_MAX = 8

/** All that changes a pool of either age, whose lists are of a fixed length in the older ones. */
const changing = [
  'TokenExchange(address,int128,uint256,int128,uint256)',
  'RemoveLiquidityOne(address,int128,uint256,uint256,uint256)',
  'RemoveLiquidityOne(address,uint256,uint256,uint256)',
  'RemoveLiquidityOne(address,uint256,uint256)',
  'RampA(uint256,uint256,uint256,uint256)',
  'StopRampA(uint256,uint256)',
  'ApplyNewFee(uint256,uint256)',
  'ApplyNewFee(uint256)',
  'NewFee(uint256,uint256)',
  ...['', '2', '3', '4'].flatMap((length) => [
    `AddLiquidity(address,uint256[${length}],uint256[${length}],uint256,uint256)`,
    `RemoveLiquidity(address,uint256[${length}],uint256[${length}],uint256)`,
    `RemoveLiquidityImbalance(address,uint256[${length}],uint256[${length}],uint256,uint256)`,
  ]),
].map(event)

const call = {
  poolFor: toFunctionSelector('find_pool_for_coins(address,address,uint256)'),
  count: toFunctionSelector('pool_count()'),
  poolAt: toFunctionSelector('pool_list(uint256)'),
  coins: toFunctionSelector('get_coins(address)'),
  isMeta: toFunctionSelector('is_meta(address)'),
  assetTypes: toFunctionSelector('get_pool_asset_types(address)'),
  implementation: toFunctionSelector('get_implementation_address(address)'),
  decimals: toFunctionSelector('get_decimals(address)'),
  balances: toFunctionSelector('get_balances()'),
  rates: toFunctionSelector('stored_rates()'),
  /** Pools that no factory made tell their balances one by one, the oldest of them A in whole numbers alone. */
  balanceAt: toFunctionSelector('balances(uint256)'),
  ampWhole: toFunctionSelector('A()'),
  amp: toFunctionSelector('A_precise()'),
  ampAtLast: toFunctionSelector('future_A()'),
  fee: toFunctionSelector('fee()'),
  adminFee: toFunctionSelector('admin_fee()'),
  offPeg: toFunctionSelector('offpeg_fee_multiplier()'),
  price: toFunctionSelector('get_virtual_price()'),
  supply: toFunctionSelector('totalSupply()'),
  amountOut: toFunctionSelector('get_dy(int128,int128,uint256)'),
}

/** Pools of one pair that are asked for. */
const POOLS_OF_PAIR = 8
/** Among so many of the newest pools are those that a block or two have made. */
const NEWEST = 64
const ONE = 10n ** 18n
const AMP_PRECISION = 100n
const FEE_ONE = 10n ** 10n
/** Types of coins in StableSwap-NG. What rebases (2) moves the balances, too. */
const PLAIN = 0n
/** Rates by an oracle, and of ERC-4626: `stored_rates` says them as the next trade would have them. */
const RATED: ReadonlySet<bigint> = new Set([1n, 3n])
/** How old pools name the native coin. */
const NATIVE = `0x${'e'.repeat(40)}`

/**
 * Curve's plain pools. Every log of a pool makes it be read again; while its A is on its way to another, every block does, and always
 * where others tell its rates. Of those only the listed ones are read (`rated`); pools of coins that rebase are left out, for they
 * change without a log, and so are those of the native coin.
 */
export const curveDex: DexReader = {
  creation: (dex) => ({ address: dex.factory, topic: { ng: CREATED, old: CREATED_OLD, registry: ADDED }[ageOf(dex)] }),
  parseCreation({ fields, topics }, dex) {
    if (ageOf(dex) === 'registry') return listed(dex).find(({ id }) => id === addressOf(BigInt(topics[1] ?? 0))) ?? null
    const words = wordsOf(fields)
    const coins = ageOf(dex) === 'old' ? words.slice(0, OLD_COINS_MAX).filter((coin) => coin !== 0n) : listOf(words, 0)
    const tokens = coins.map(addressOf)
    return tokens.length < 2 ? null : { id: `${dex.factory} ${tokens.join(' ')}`, address: dex.factory, dex, tokens }
  },
  resolve: (readContext, at, found) => resolve(readContext, at, found),
  async lookUp({ reader }, at, dex, pairs) {
    if (ageOf(dex) === 'registry') return listed(dex)
    const to = dex.factory
    const poolsAt = async (asked: readonly (readonly [string, string])[], places: readonly number[]) => {
      const calls = asked.flatMap(([a, b]) =>
        places.map((place) => ({ to, calldata: callOf(call.poolFor, a, b, place) })),
      )
      return (await reader.read(at, calls)).map((answer) => (answer ? wordAt(wordsOf(answer), 0) : 0n))
    }
    const first = await poolsAt(pairs, [0])
    const more = Array.from({ length: POOLS_OF_PAIR - 1 }, (_, place) => place + 1)
    const others = await poolsAt(
      pairs.filter((_, index) => first[index] !== 0n),
      more,
    )
    const pools = new Set([...first, ...others].filter((word) => word !== 0n).map(addressOf))
    return [...pools].map((address) => ({ id: address, address, dex, tokens: [] }))
  },
  readBase: (readContext, at, found) => readPlain(readContext, at, found),
  readTicks: null,
  topics: changing,
  poolOf: ({ address }) => address,
  apply: () => 'reread',
}

/** Who made the pools: StableSwap-NG, a factory of before, or nobody but Curve itself. */
const ageOf = ({ implementations, pools }: PoolIdentity['dex']): 'ng' | 'old' | 'registry' =>
  pools !== undefined ? 'registry' : implementations !== undefined ? 'old' : 'ng'

const listed = (dex: PoolIdentity['dex']): readonly PoolIdentity[] =>
  (dex.pools ?? []).map((pool) => {
    const address = pool.toLowerCase()
    return { id: address, address, dex, tokens: [] }
  })

/** The log names the coins alone: the pool is among the newest of its factory. */
async function resolve({ reader }: ReadContext, at: string, found: readonly PoolIdentity[]): Promise<readonly PoolIdentity[]> {
  const [first] = found
  if (first === undefined) return []
  const { dex } = first
  if (ageOf(dex) === 'registry') return found
  const [counted] = await reader.read(at, [{ to: dex.factory, calldata: call.count }])
  const count = Number(numberOf(counted))
  const from = found.length > NEWEST / 2 ? 0 : Math.max(0, count - NEWEST)
  const places = Array.from({ length: count - from }, (_, place) => from + place)
  const addresses = (
    await reader.read(
      at,
      places.map((place) => ({ to: dex.factory, calldata: callOf(call.poolAt, place) })),
    )
  ).map((answer) => addressOf(numberOf(answer)))
  const told = await reader.read(
    at,
    addresses.map((address) => ({ to: dex.factory, calldata: callOf(call.coins, address) })),
  )
  const wanted = new Set(found.map(({ tokens }) => tokens.join()))
  return addresses.flatMap((address, index) => {
    const tokens = coinsOf(dex, told[index])
    return wanted.has(tokens.join()) ? [{ id: address, address, dex, tokens }] : []
  })
}

function coinsOf(dex: PoolIdentity['dex'], answer: Hex | null | undefined): readonly string[] {
  const words = wordsOf(answer ?? '0x')
  return (ageOf(dex) === 'ng' ? listOf(words, 0) : words.filter((coin) => coin !== 0n)).map(addressOf)
}

const ofPool = [
  'amp',
  'ampWhole',
  'ampAtLast',
  'fee',
  'adminFee',
  'balances',
  'rates',
  'offPeg',
  'price',
  'supply',
] as const
const ofFactory = ['coins', 'isMeta', 'assetTypes', 'implementation', 'decimals'] as const
const asked = [...ofPool, ...ofFactory]
type Answers = Readonly<Record<(typeof asked)[number], Hex | null>> & Readonly<{ each: readonly (Hex | null)[] }>

async function readPlain(readContext: ReadContext, at: string, found: readonly PoolIdentity[]): Promise<(TrackedPool | null)[]> {
  const plans = found.map(({ address, dex }) => [
    ...ofPool.map((name) => ({ to: address, calldata: call[name] })),
    ...ofFactory.map((name) => ({ to: dex.factory, calldata: callOf(call[name], address) })),
    ...Array.from({ length: ageOf(dex) === 'registry' ? REGISTRY_COINS_MAX : 0 }, (_, place) => ({
      to: address,
      calldata: callOf(call.balanceAt, place),
    })),
  ])
  const answers = await readContext.reader.read(at, plans.flat())
  let next = 0
  const tolds = plans.map(({ length }) => {
    const own = answers.slice(next, next + length)
    next += length
    const named = Object.fromEntries(asked.map((name, place) => [name, own[place] ?? null])) as Omit<Answers, 'each'>
    return { ...named, each: own.slice(asked.length) }
  })
  const pools = found.map((one, index) => poolOf(one, tolds[index] as Answers))
  const proven = await prove(readContext, at, pools, tolds)
  return pools.map((pool, index) => {
    const told = tolds[index] as Answers
    if (pool === null) return null
    const exact = proven[index] ?? null
    // What the contract contradicts is not traded on, but may be understood again after the next change.
    const tracked: TrackedPool = exact === null ? { pool, idle: true } : { pool: exact }
    const isStill = numberOf(told.ampAtLast) === pool.amp && typesOf(told).every((type) => type === PLAIN)
    return isStill ? tracked : { ...tracked, holdsUntil: 0 }
  })
}

/** Null where it is none of those that we read. */
function poolOf({ id, address, dex }: PoolIdentity, told: Answers): CurveStablePool | null {
  const tokens = coinsOf(dex, told.coins)
  const age = ageOf(dex)
  const amp = told.amp ?? (age === 'registry' ? told.ampWhole : null)
  const isPlain = told.isMeta !== null && numberOf(told.isMeta) === 0n && isSteady(address, dex, told)
  if (!isPlain || tokens.length < 2 || tokens.includes(NATIVE) || !amp || !told.fee || !told.adminFee) return null
  const balances = balancesOf(age, tokens.length, told)
  const rates =
    age === 'ng'
      ? listOf(wordsOf(told.rates ?? '0x'), 0)
      : wordsOf(told.decimals ?? '0x')
          .slice(0, tokens.length)
          .map((decimals) => 10n ** (36n - (decimals > 36n ? 36n : decimals)))
  if (balances.length !== tokens.length || rates.length !== tokens.length) return null
  if (age === 'ng' && !told.offPeg) return null
  return {
    kind: 'curve-stable',
    id,
    address,
    dex: dex.name,
    tokens,
    balances,
    rates,
    amp: numberOf(amp),
    ampPrecision: told.amp ? AMP_PRECISION : 1n,
    fee: numberOf(told.fee),
    adminFee: numberOf(told.adminFee),
    offPegFee: age === 'ng' ? numberOf(told.offPeg) : null,
    // So the published sources; what a pool says of itself decides.
    invariant: age === 'ng' || (age === 'old' && tokens.length === 2) ? 'at-once' : 'stepwise',
  }
}

/** Its balances change with its logs alone, and its coins have one rate for all time, or one that can be relied on for a block. */
function isSteady(address: string, dex: PoolIdentity['dex'], { assetTypes, implementation }: Answers): boolean {
  if (dex.pools !== undefined) return dex.pools.some((one) => one.toLowerCase() === address)
  if (dex.implementations !== undefined)
    return dex.implementations.some((one) => BigInt(one) === numberOf(implementation))
  const isRated = dex.rated?.some((one) => one.toLowerCase() === address) ?? false
  return assetTypes !== null && typesOf({ assetTypes }).every((type) => type === PLAIN || (isRated && RATED.has(type)))
}

const typesOf = ({ assetTypes }: Pick<Answers, 'assetTypes'>): readonly bigint[] => listOf(wordsOf(assetTypes ?? '0x'), 0)

function balancesOf(age: ReturnType<typeof ageOf>, count: number, { balances, each }: Answers): readonly bigint[] {
  if (age === 'registry') return each.slice(0, count).flatMap((answer) => (answer ? [numberOf(answer)] : []))
  const words = wordsOf(balances ?? '0x')
  return age === 'ng' ? listOf(words, 0) : words
}

/** Parts of a balance that are tried. */
const TRIAL_PART = 1_000n

/**
 * Each pool is asked what it pays for a trade of every coin: the one of our invariants that says so too is its own. Null where none
 * does. StableSwap-NG's get_dy is another contract's, with A in whole numbers: there the pool's own D is seen by its virtual price.
 */
async function prove(
  { reader }: ReadContext,
  at: string,
  pools: readonly (CurveStablePool | null)[],
  tolds: readonly Answers[],
) {
  const trials = pools.map((pool) => (pool?.balances.every((balance) => balance > 0n) ? trialsOf(pool) : []))
  const calls = trials.flatMap((tried, index) =>
    tried.map(({ from, to, amount }) => ({
      to: pools[index]?.address ?? '',
      calldata: callOf(call.amountOut, from, to, amount),
    })),
  )
  const answers = await reader.read(at, calls)
  let next = 0
  return pools.map((pool, index) => {
    const tried = (trials[index] ?? []).map((trial) => ({ ...trial, paid: numberOf(answers[next++]) }))
    if (pool === null || tried.length === 0) return pool
    const isNg = pool.offPegFee !== null
    const variants = isNg ? [pool] : [pool, { ...pool, invariant: otherOf(pool) }]
    return variants.find((one) => pays(one, tried) && (!isNg || hasPrice(one, tolds[index] as Answers))) ?? null
  })
}

type Trial = Readonly<{ from: number; to: number; amount: bigint }>

const trialsOf = ({ balances }: CurveStablePool): readonly Trial[] =>
  balances.map((balance, from) => ({ from, to: (from + 1) % balances.length, amount: balance / TRIAL_PART + 1n }))

const otherOf = ({ invariant }: CurveStablePool): CurveStablePool['invariant'] =>
  invariant === 'stepwise' ? 'at-once' : 'stepwise'

function pays(pool: CurveStablePool, tried: readonly (Trial & Readonly<{ paid: bigint }>)[]): boolean {
  const isNg = pool.offPegFee !== null
  const whole = isNg ? { ...pool, amp: (pool.amp / AMP_PRECISION) * AMP_PRECISION } : pool
  return tried.every((trial) => expectedGetDy(whole, trial) === trial.paid)
}

/** get_dy, which in the oldest pools takes the fee of what is in the coin's own unit already. Their exchange does not. */
function expectedGetDy(pool: CurveStablePool, { from, to, amount }: Trial): bigint {
  const paid = (of: CurveStablePool) => curveStable.swap(of, from, to, amount)?.amountOut ?? 0n
  if (pool.ampPrecision === AMP_PRECISION) return paid(pool)
  const whole = paid({ ...pool, fee: 0n })
  return whole - (whole * pool.fee) / FEE_ONE
}

function hasPrice(pool: CurveStablePool, { price, supply }: Answers): boolean {
  const shares = numberOf(supply)
  const invariant = invariantNow(pool)
  return shares > 0n && invariant !== null && (invariant * ONE) / shares === numberOf(price)
}

const numberOf = (answer: Hex | null | undefined): bigint => (answer ? wordAt(wordsOf(answer), 0) : 0n)
