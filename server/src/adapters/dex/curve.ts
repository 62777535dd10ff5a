import { type Hex, toEventSelector, toFunctionSelector } from 'viem'
import { type CurveStablePool, curveStable, invariantNow } from '../../swap/routing/pools/curve-stable.ts'
import { addressOf, callOf, listOf, numberOf, wordsOf } from './abi-words.ts'
import { readLists } from './block-reader.ts'
import { poolIdentity } from './pool-identity.ts'
import type { DexReader, PoolIdentity, ReadContext, TrackedPool } from './tracked-pool.ts'

const event = (text: string) => toEventSelector(text)
/** StableSwap-NG: the coins are a dynamic array. */
const CREATED = event('PlainPoolDeployed(address[],uint256,uint256,address)')
/** Older factories: the coins are an array of four. */
const CREATED_OLD = event('PlainPoolDeployed(address[4],uint256,uint256,address)')
const OLD_COINS_MAX = 4
/** Emitted by the registry, for pools without a factory. */
const ADDED = event('PoolAdded(address,bytes)')
const REGISTRY_COINS_MAX = 8

/** Events that change a pool. Older generations use arrays of fixed length. */
const changeTopics = [
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
  /** Pools without a factory return one balance per call; the oldest of them return A only as an integer. */
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

/** Limit of pools that are looked up per pair. */
const POOLS_OF_PAIR = 8
/** The newest pools of a factory that are searched for a pool of the last blocks. */
const NEWEST = 64
const ONE = 10n ** 18n
const AMP_PRECISION = 100n
const FEE_ONE = 10n ** 10n
/** Asset types of StableSwap-NG. A rebasing coin (2) also changes the balances. */
const PLAIN = 0n
/** Oracle rates and ERC-4626: `stored_rates` returns the rates of the next trade. */
const RATED: ReadonlySet<bigint> = new Set([1n, 3n])
/** The native currency in older pools. */
const NATIVE = `0x${'e'.repeat(40)}`

/**
 * Curve's plain pools. Every log of a pool triggers a full read. A pool is read in every block while its A ramps, or if it has
 * external rates; of the latter only the listed ones (`rated`) are supported. Pools with rebasing coins (they change without a log)
 * or the native currency are excluded.
 */
export const curveDex: DexReader = {
  creation: (dex) => ({
    address: dex.factory,
    topic: { ng: CREATED, old: CREATED_OLD, registry: ADDED }[generationOf(dex)],
  }),
  parseCreation({ fields, topics }, dex) {
    if (generationOf(dex) === 'registry')
      return listedPools(dex).find(({ id }) => id === addressOf(BigInt(topics[1] ?? 0))) ?? null
    const words = wordsOf(fields)
    const coins =
      generationOf(dex) === 'old' ? words.slice(0, OLD_COINS_MAX).filter((coin) => coin !== 0n) : listOf(words, 0)
    const tokens = coins.map(addressOf)
    return tokens.length < 2 ? null : { id: `${dex.factory} ${tokens.join(' ')}`, address: dex.factory, dex, tokens }
  },
  resolve,
  async lookUp({ reader }, at, dex, pairs) {
    if (generationOf(dex) === 'registry') return listedPools(dex)
    const to = dex.factory
    const poolsAt = async (searched: readonly (readonly [string, string])[], indexes: readonly number[]) => {
      const calls = searched.flatMap(([a, b]) =>
        indexes.map((index) => ({ to, calldata: callOf(call.poolFor, a, b, index) })),
      )
      return (await reader.read(at, calls)).map(numberOf)
    }
    const first = await poolsAt(pairs, [0])
    const otherIndexes = Array.from({ length: POOLS_OF_PAIR - 1 }, (_, place) => place + 1)
    const others = await poolsAt(
      pairs.filter((_, index) => first[index] !== 0n),
      otherIndexes,
    )
    const pools = new Set([...first, ...others].filter((word) => word !== 0n).map(addressOf))
    return [...pools].map((address) => poolIdentity(address, dex, []))
  },
  readBase: readPlain,
  topics: changeTopics,
  apply: () => 'reread',
}

/** The source of the pools: a StableSwap-NG factory, an older factory, or the registry of pools without a factory. */
const generationOf = ({ implementations, pools }: PoolIdentity['dex']): 'ng' | 'old' | 'registry' =>
  pools !== undefined ? 'registry' : implementations !== undefined ? 'old' : 'ng'

const listedPools = (dex: PoolIdentity['dex']): readonly PoolIdentity[] =>
  (dex.pools ?? []).map((pool) => poolIdentity(pool.toLowerCase(), dex, []))

/** The log contains only the coins. Finds their pools among the newest of the factory. */
async function resolve(
  { reader }: ReadContext,
  at: string,
  identities: readonly PoolIdentity[],
): Promise<readonly PoolIdentity[]> {
  const [first] = identities
  if (first === undefined) return []
  const { dex } = first
  if (generationOf(dex) === 'registry') return identities
  const [countAnswer] = await reader.read(at, [{ to: dex.factory, calldata: call.count }])
  const count = Number(numberOf(countAnswer))
  const from = identities.length > NEWEST / 2 ? 0 : Math.max(0, count - NEWEST)
  const places = Array.from({ length: count - from }, (_, place) => from + place)
  const addresses = (
    await reader.read(
      at,
      places.map((place) => ({ to: dex.factory, calldata: callOf(call.poolAt, place) })),
    )
  ).map((answer) => addressOf(numberOf(answer)))
  const coinAnswers = await reader.read(
    at,
    addresses.map((address) => ({ to: dex.factory, calldata: callOf(call.coins, address) })),
  )
  const tokenLists = new Set(identities.map(({ tokens }) => tokens.join()))
  return addresses.flatMap((address, index) => {
    const tokens = coinsOf(dex, coinAnswers[index])
    return tokenLists.has(tokens.join()) ? [poolIdentity(address, dex, tokens)] : []
  })
}

function coinsOf(dex: PoolIdentity['dex'], answer: Hex | null | undefined): readonly string[] {
  const words = wordsOf(answer ?? '0x')
  return (generationOf(dex) === 'ng' ? listOf(words, 0) : words.filter((coin) => coin !== 0n)).map(addressOf)
}

const poolCalls = [
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
const factoryCalls = ['coins', 'isMeta', 'assetTypes', 'implementation', 'decimals'] as const
const callNames = [...poolCalls, ...factoryCalls]
type FactoryAnswers = Readonly<Record<(typeof factoryCalls)[number], Hex | null>>
type Answers = Readonly<Record<(typeof callNames)[number], Hex | null>> & Readonly<{ each: readonly (Hex | null)[] }>

/** The answers by the name of their call; null for the others of `callNames`. */
const nameAnswers = (names: readonly (typeof callNames)[number][], answers: readonly (Hex | null)[]) =>
  Object.fromEntries(callNames.map((name) => [name, answers[names.indexOf(name)] ?? null])) as Omit<Answers, 'each'>

/**
 * The rates, the price and the balances of an unsupported pool may call contracts that its creator chose. So the factory is asked
 * first, and only supported pools are called.
 */
async function readAnswers({ reader }: ReadContext, at: string, identities: readonly PoolIdentity[]) {
  const factoryPlans = identities.map(({ address, dex }) =>
    factoryCalls.map((name) => ({ to: dex.factory, calldata: callOf(call[name], address) })),
  )
  const factoryAnswers = (await readLists(reader, at, factoryPlans)).map((own) => nameAnswers(factoryCalls, own))
  const poolPlans = identities.map((one, index) => {
    const { address: to, dex } = one
    if (!isSupported(one, factoryAnswers[index] as FactoryAnswers)) return []
    const coins = Array.from({ length: generationOf(dex) === 'registry' ? REGISTRY_COINS_MAX : 0 }, (_, place) => place)
    return [
      ...poolCalls.map((name) => ({ to, calldata: call[name] })),
      ...coins.map((place) => ({ to, calldata: callOf(call.balanceAt, place) })),
    ]
  })
  return (await readLists(reader, at, poolPlans)).map((own, index): Answers => {
    const { coins, isMeta, assetTypes, implementation, decimals } = factoryAnswers[index] as FactoryAnswers
    return {
      ...nameAnswers(poolCalls, own),
      ...{ coins, isMeta, assetTypes, implementation, decimals },
      each: own.slice(poolCalls.length),
    }
  })
}

/** A plain pool of at least two tokens, with supported rates. */
function isSupported({ address, dex }: PoolIdentity, answers: FactoryAnswers): boolean {
  const tokens = coinsOf(dex, answers.coins)
  const isPlain = answers.isMeta !== null && numberOf(answers.isMeta) === 0n
  return isPlain && hasSupportedRates(address, dex, answers) && tokens.length >= 2 && !tokens.includes(NATIVE)
}

async function readPlain(
  readContext: ReadContext,
  at: string,
  identities: readonly PoolIdentity[],
): Promise<(TrackedPool | null)[]> {
  const answersOfPools = await readAnswers(readContext, at, identities)
  const pools = identities.map((one, index) => poolOf(one, answersOfPools[index] as Answers))
  const verified = await verifyMaths(readContext, at, pools, answersOfPools)
  return pools.map((pool, index) => {
    const answers = answersOfPools[index] as Answers
    if (pool === null) return null
    const exact = verified[index] ?? null
    // A pool that contradicts our maths is idle. The next change triggers a new check.
    const tracked: TrackedPool = exact === null ? { pool, idle: true } : { pool: exact }
    const isConstant = numberOf(answers.ampAtLast) === pool.amp && typesOf(answers).every((type) => type === PLAIN)
    return isConstant ? tracked : { ...tracked, holdsUntil: 0 }
  })
}

/** Null for an unsupported pool. */
function poolOf(identity: PoolIdentity, answers: Answers): CurveStablePool | null {
  const { id, address, dex } = identity
  const tokens = coinsOf(dex, answers.coins)
  const generation = generationOf(dex)
  const amp = answers.amp ?? (generation === 'registry' ? answers.ampWhole : null)
  if (!isSupported(identity, answers) || !amp || !answers.fee || !answers.adminFee) return null
  const balances = balancesOf(generation, tokens.length, answers)
  const rates =
    generation === 'ng'
      ? listOf(wordsOf(answers.rates ?? '0x'), 0)
      : wordsOf(answers.decimals ?? '0x')
          .slice(0, tokens.length)
          .map((decimals) => 10n ** (36n - (decimals > 36n ? 36n : decimals)))
  if (balances.length !== tokens.length || rates.length !== tokens.length) return null
  if (generation === 'ng' && !answers.offPeg) return null
  return {
    kind: 'curve-stable',
    id,
    address,
    dex: dex.name,
    tokens,
    balances,
    rates,
    amp: numberOf(amp),
    ampPrecision: answers.amp ? AMP_PRECISION : 1n,
    fee: numberOf(answers.fee),
    adminFee: numberOf(answers.adminFee),
    offPegFee: generation === 'ng' ? numberOf(answers.offPeg) : null,
    // According to the published sources. The check against the contract may select the other one.
    invariant: generation === 'ng' || (generation === 'old' && tokens.length === 2) ? 'at-once' : 'stepwise',
  }
}

/** True if the balances change only with logs, and the rates are constant or valid for one block. */
function hasSupportedRates(
  address: string,
  dex: PoolIdentity['dex'],
  { assetTypes, implementation }: FactoryAnswers,
): boolean {
  if (dex.pools !== undefined) return dex.pools.some((one) => one.toLowerCase() === address)
  if (dex.implementations !== undefined)
    return dex.implementations.some((one) => BigInt(one) === numberOf(implementation))
  const isRated = dex.rated?.some((one) => one.toLowerCase() === address) ?? false
  return assetTypes !== null && typesOf({ assetTypes }).every((type) => type === PLAIN || (isRated && RATED.has(type)))
}

const typesOf = ({ assetTypes }: Pick<Answers, 'assetTypes'>): readonly bigint[] =>
  listOf(wordsOf(assetTypes ?? '0x'), 0)

function balancesOf(
  generation: ReturnType<typeof generationOf>,
  count: number,
  { balances, each }: Answers,
): readonly bigint[] {
  if (generation === 'registry') return each.slice(0, count).flatMap((answer) => (answer ? [numberOf(answer)] : []))
  const words = wordsOf(balances ?? '0x')
  return generation === 'ng' ? listOf(words, 0) : words
}

/** The divisor of a balance that gives the trial amount. */
const TRIAL_PART = 1_000n

/**
 * Compares get_dy for a trade of every coin with our maths and selects the invariant that agrees; null if none does. StableSwap-NG
 * computes get_dy in another contract with an integer A, so the virtual price verifies the pool's own D.
 */
async function verifyMaths(
  { reader }: ReadContext,
  at: string,
  pools: readonly (CurveStablePool | null)[],
  answersOfPools: readonly Answers[],
) {
  const trials = pools.map((pool) => (pool?.balances.every((balance) => balance > 0n) ? trialsOf(pool) : []))
  const calls = trials.map((poolTrials, index) =>
    poolTrials.map(({ from, to, amount }) => ({
      to: pools[index]?.address ?? '',
      calldata: callOf(call.amountOut, from, to, amount),
    })),
  )
  const answers = await readLists(reader, at, calls)
  return pools.map((pool, index) => {
    const results = (trials[index] ?? []).map((trial, n) => ({ ...trial, paid: numberOf(answers[index]?.[n]) }))
    if (pool === null || results.length === 0) return pool
    const isNg = pool.offPegFee !== null
    const variants = isNg ? [pool] : [pool, { ...pool, invariant: otherOf(pool) }]
    return (
      variants.find(
        (one) => matchesGetDy(one, results) && (!isNg || matchesVirtualPrice(one, answersOfPools[index] as Answers)),
      ) ?? null
    )
  })
}

type Trial = Readonly<{ from: number; to: number; amount: bigint }>

const trialsOf = ({ balances }: CurveStablePool): readonly Trial[] =>
  balances.map((balance, from) => ({ from, to: (from + 1) % balances.length, amount: balance / TRIAL_PART + 1n }))

const otherOf = ({ invariant }: CurveStablePool): CurveStablePool['invariant'] =>
  invariant === 'stepwise' ? 'at-once' : 'stepwise'

function matchesGetDy(pool: CurveStablePool, results: readonly (Trial & Readonly<{ paid: bigint }>)[]): boolean {
  const isNg = pool.offPegFee !== null
  const rounded = isNg ? { ...pool, amp: (pool.amp / AMP_PRECISION) * AMP_PRECISION } : pool
  return results.every((trial) => expectedGetDy(rounded, trial) === trial.paid)
}

/** Our get_dy. The oldest pools apply its fee after the conversion to the coin's unit, but not in `exchange`. */
function expectedGetDy(pool: CurveStablePool, { from, to, amount }: Trial): bigint {
  const paid = (of: CurveStablePool) => curveStable.swap(of, from, to, amount)?.amountOut ?? 0n
  if (pool.ampPrecision === AMP_PRECISION) return paid(pool)
  const beforeFee = paid({ ...pool, fee: 0n })
  return beforeFee - (beforeFee * pool.fee) / FEE_ONE
}

function matchesVirtualPrice(pool: CurveStablePool, { price, supply }: Answers): boolean {
  const shares = numberOf(supply)
  const invariant = invariantNow(pool)
  return shares > 0n && invariant !== null && (invariant * ONE) / shares === numberOf(price)
}
