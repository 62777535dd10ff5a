import { createHash } from 'node:crypto'
import { createPayoutIds } from '../../src/adapters/signers/payout-ids.ts'
import { AppError } from '../../src/core/domain/errors.ts'
import type { FinalityTag, Network } from '../../src/core/domain/network.ts'
import type {
  BroadcastResult,
  Chain,
  Destination,
  Observation,
  ScannedBlock,
  SpendRequest,
  Transfer,
  UnsignedTransaction,
  WatchedTransaction,
} from '../../src/exchange/ports/chain.ts'
import type { PayoutOrigin, ReleasedTransaction, SignIntent } from '../../src/exchange/ports/signer.ts'
import type { Payment, Utxo } from '../../src/exchange/ports/spend.ts'

/** What a block holds of one transaction. */
type Tx = Readonly<{
  txHash: string
  sender: string | null
  nonce: number | null
  spends: readonly string[]
  keys: readonly string[]
  transfers: readonly Transfer[]
  feeUnits: bigint
  ok: boolean
}>
type Block = Readonly<{ height: number; hash: string; parentHash: string; txs: readonly Tx[] }>

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 40)
const FEE = 1_000n
const GAS = 21_000n

/**
 * A chain of one node, in memory, of either family: enough to bring deposits, reorganise, revert, refuse and replace at
 * will. It knows nothing of the store: what it says comes from its own blocks.
 */
export function createFakeChain(network: Network) {
  const isBitcoin = network.family === 'bitcoin'
  let blocks: Block[] = [{ height: 0, hash: digest(`${network.id} 0`), parentHash: '', txs: [] }]
  let pool: Tx[] = []
  let salt = 0
  const knobs = {
    refuses: false,
    reverts: false,
    deaf: false,
    feeRate: 10n,
    gasRefused: null as string | null,
    tags: { safe: null, finalized: null } as Record<FinalityTag, number | null>,
  }

  const head = (): Block => blocks[blocks.length - 1] as Block
  const mined = (): readonly Tx[] => blocks.flatMap(({ txs }) => txs)
  const takes = (tx: Tx) => !mined().some((other) => other.keys.some((key) => tx.keys.includes(key)))

  /** Every coin that it spends is there; those of strangers are. */
  const isFunded = ({ spends }: Tx, also: readonly Tx[]) => {
    const made = new Set([...mined(), ...also].flatMap(({ transfers }) => transfers.map(({ identity }) => identity)))
    return spends.every((outpoint) => outpoint.startsWith('foreign:') || made.has(outpoint))
  }

  function mine(count = 1): void {
    for (let n = 0; n < count; n++) {
      const txs: Tx[] = []
      for (const tx of pool)
        if (takes(tx) && isFunded(tx, txs) && !txs.some((other) => other.keys.some((key) => tx.keys.includes(key))))
          txs.push(knobs.reverts && tx.nonce !== null ? { ...tx, ok: false, transfers: [] } : tx)
      pool = []
      const { height, hash } = head()
      blocks.push({
        height: height + 1,
        parentHash: hash,
        hash: digest(`${network.id} ${height + 1} ${hash} ${salt++}`),
        txs,
      })
    }
  }

  /** Other blocks in place of the last `depth`. Their transactions wait again, but for those that `drop` names. */
  function reorg(depth: number, drop: (txHash: string) => boolean = () => false): void {
    const removed = blocks.slice(-depth)
    blocks = blocks.slice(0, -depth)
    pool = [
      ...removed
        .flatMap(({ txs }) => txs)
        .filter(({ txHash }) => !drop(txHash))
        .map((tx) => ({ ...tx, ok: true })),
      ...pool,
    ]
    const waiting = pool
    pool = []
    mine(depth)
    pool = waiting
  }

  /** Somebody pays an address; in the next block. Returns the hash. */
  function pay(
    address: string,
    units: bigint,
    { contract = null, sender = null, memo = null }: Partial<Pick<Transfer, 'contract' | 'sender' | 'memo'>> = {},
  ): string {
    const txHash = digest(`pay ${address} ${units} ${salt++}`)
    pool.push({
      txHash,
      sender: null,
      nonce: null,
      spends: isBitcoin ? [`foreign:${txHash}`] : [],
      keys: [`foreign:${txHash}`],
      feeUnits: 0n,
      ok: true,
      transfers: [{ identity: isBitcoin ? `${txHash}:0` : txHash, txHash, address, memo, contract, units, sender }],
    })
    return txHash
  }

  /** A payment that was in a block before, offered again. */
  function offer(transfer: Transfer | undefined): void {
    if (transfer)
      pool.push({
        txHash: transfer.txHash,
        sender: null,
        nonce: null,
        spends: isBitcoin ? [`foreign:${transfer.txHash}`] : [],
        keys: [`foreign:${transfer.txHash}`],
        feeUnits: 0n,
        ok: true,
        transfers: [transfer],
      })
  }

  /** A stranger takes a resource of ours: an outpoint, or `address:nonce`. */
  function steal(key: string): string {
    const txHash = digest(`steal ${key} ${salt++}`)
    pool.unshift({
      txHash,
      sender: null,
      nonce: null,
      spends: isBitcoin ? [key] : [],
      keys: [key],
      feeUnits: 0n,
      ok: true,
      transfers: [],
    })
    return txHash
  }

  const addresses = {
    parse: (text: string) => text,
    parseMemo: (text: string) => text,
    deposit: (index: number): Destination => ({ address: `${network.id}-deposit-${index}`, memo: null }),
    hot: () => `${network.id}-hot`,
    change: (index: number) => (isBitcoin ? `${network.id}-change-${index}` : `${network.id}-hot`),
  }
  const own = ({ branch, index }: { branch: string; index: number }) =>
    branch === 'hot'
      ? addresses.hot()
      : branch === 'change'
        ? addresses.change(index)
        : addresses.deposit(index).address

  function build({
    payments: pays,
    from,
    fee,
    utxos: coins,
    changeIndex,
    nonce,
    replaces,
    gasLimit,
  }: SpendRequest): UnsignedTransaction {
    for (const { units } of pays)
      if (isBitcoin && units < (network.bitcoin?.dustUnits ?? 0n)) throw new AppError('AMOUNT_BELOW_MIN', 'dust')
    if (!isBitcoin) {
      const [pay] = pays
      if (!pay || nonce === null) throw new Error('an account pays once, with a nonce')
      const maxFeePerGas =
        replaces?.intent.family === 'evm' ? (replaces.intent.maxFeePerGas * 113n) / 100n + 1n : fee.rate
      const intent: SignIntent = {
        family: 'evm',
        network: network.id,
        chainId: 1,
        from,
        nonce,
        pay,
        gasLimit: gasLimit ?? GAS,
        maxFeePerGas,
        maxPriorityFeePerGas: fee.tip,
      }
      const key = `${own(from)}:${nonce}`
      return { intent, conflictKey: key, resources: [key], feeUnits: (gasLimit ?? GAS) * maxFeePerGas, change: null }
    }
    const inputs: Utxo[] = replaces?.intent.family === 'bitcoin' ? [...replaces.intent.inputs] : []
    const feeUnits = replaces ? replaces.feeUnits + FEE : FEE
    const needed = pays.reduce((sum, { units }) => sum + units, feeUnits)
    const held = () => inputs.reduce((sum, { units }) => sum + units, 0n)
    for (const coin of coins) if (held() < needed) inputs.push(coin)
    const [first] = inputs
    if (!first || held() < needed) throw new AppError('INSUFFICIENT_LIQUIDITY', 'the coins do not cover it')
    const rest = held() - needed
    const path = { branch: 'change' as const, index: changeIndex }
    const change = rest > 0n ? { path, units: rest, address: own(path), vout: pays.length } : null
    const intent: SignIntent = {
      family: 'bitcoin',
      network: network.id,
      inputs,
      pays,
      change: change && { path, units: rest },
    }
    return { intent, conflictKey: first.outpoint, resources: inputs.map(({ outpoint }) => outpoint), feeUnits, change }
  }

  function toTx(raw: string): Tx {
    const intent = JSON.parse(raw, (_key, value) =>
      typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
    ) as SignIntent
    const txHash = digest(raw)
    const transfer = (n: number, address: string, units: bigint, contract: string | null): Transfer => ({
      identity: isBitcoin ? `${txHash}:${n}` : contract === null ? txHash : `${txHash}:0`,
      txHash,
      address,
      memo: null,
      contract,
      units,
      sender: null,
    })
    if (intent.family === 'evm') {
      const sender = own(intent.from)
      return {
        txHash,
        sender,
        nonce: intent.nonce,
        spends: [],
        keys: [`${sender}:${intent.nonce}`],
        feeUnits: intent.gasLimit * intent.maxFeePerGas,
        ok: true,
        transfers: [transfer(0, intent.pay.address, intent.pay.units, intent.pay.asset.contract)],
      }
    }
    if (intent.family === 'monero') throw new Error('no transaction of this family')
    const spends = intent.inputs.map(({ outpoint }) => outpoint)
    const transfers = intent.pays.map((pay, n) => transfer(n, pay.address, pay.units, null))
    if (intent.change) transfers.push(transfer(intent.pays.length, own(intent.change.path), intent.change.units, null))
    const paid = transfers.reduce((sum, { units }) => sum + units, 0n)
    return {
      txHash,
      sender: null,
      nonce: null,
      spends,
      keys: spends,
      transfers,
      ok: true,
      feeUnits: intent.inputs.reduce((sum, { units }) => sum + units, 0n) - paid,
    }
  }

  async function broadcast(raw: string): Promise<BroadcastResult> {
    const tx = toTx(raw)
    if (knobs.refuses) return { kind: 'rejected', reason: 'no' }
    if (knobs.deaf) return { kind: 'unknown', reason: 'no answer' }
    if ([...pool, ...mined()].some(({ txHash }) => txHash === tx.txHash)) return { kind: 'known' }
    if (!takes(tx)) return { kind: 'rejected', reason: 'spent' }
    if (isBitcoin && !isFunded(tx, pool)) return { kind: 'rejected', reason: 'missing inputs' }
    pool = [...pool.filter((other) => !other.keys.some((key) => tx.keys.includes(key))), tx]
    return { kind: 'accepted' }
  }

  async function observe({
    txHash,
    conflictKey,
    ancestorSpends: origins = [],
  }: WatchedTransaction): Promise<Observation> {
    for (const block of blocks) {
      const lost = origins.find(({ outpoint, spentBy }) =>
        block.txs.some((one) => one.txHash !== spentBy && one.keys.includes(outpoint)),
      )
      if (lost && head().height - block.height >= network.finalityBlocks)
        return { kind: 'invalidated', proof: { parent: lost.spentBy } }
      const tx = block.txs.find((one) => one.txHash === txHash)
      if (tx)
        return { kind: 'included', block: { height: block.height, hash: block.hash }, ok: tx.ok, feeUnits: tx.feeUnits }
      const conflicting = block.txs.find(({ keys }) => conflictKey !== null && keys.includes(conflictKey))
      if (conflicting && head().height - block.height >= network.finalityBlocks)
        return { kind: 'invalidated', proof: { spentBy: conflicting.txHash } }
    }
    return pool.some((one) => one.txHash === txHash) ? { kind: 'pending' } : { kind: 'unseen' }
  }

  const held = (address: string, contract: string | null): bigint =>
    mined()
      .flatMap((tx) => [
        ...tx.transfers.filter((one) => one.address === address && one.contract === contract).map(({ units }) => units),
        ...(tx.sender === address
          ? [
              contract === null ? -tx.feeUnits : 0n,
              ...tx.transfers.filter((one) => one.contract === contract).map(({ units }) => -units),
            ]
          : []),
      ])
      .reduce((sum, units) => sum + units, 0n)

  const chain: Chain = {
    network,
    addresses,
    reader: {
      head: async () => ({ height: head().height, hash: head().hash }),
      block: async (height): Promise<ScannedBlock | null> => {
        const block = blocks[height]
        return block
          ? {
              ...block,
              time: height,
              transfers: block.txs.flatMap(({ transfers }) => transfers),
              transactions: block.txs,
            }
          : null
      },
      mempool: async () => pool.flatMap(({ transfers }) => transfers),
      agrees: async ({ height, hash }) => blocks[height]?.hash === hash,
      receivedUnits: async ({ identity }, { height }) =>
        blocks[height]?.txs.flatMap(({ transfers }) => transfers).find((one) => one.identity === identity)?.units ?? 0n,
      tagHeight: async (tag) => knobs.tags[tag],
      balance: async (address, asset) => held(address, asset.contract),
      feeRate: async () => ({ rate: knobs.feeRate, tip: 1n }),
    },
    sender: {
      gasLimit: async (pay: Payment, from) => {
        if (isBitcoin) return null
        if (knobs.gasRefused === pay.address) throw new AppError('SIMULATION_FAILED', 'it would revert')
        if (held(own(from), pay.asset.contract) < pay.units)
          throw new AppError('INSUFFICIENT_LIQUIDITY', 'the sender holds less')
        return GAS
      },
      payoutFee: (_asset, fee) => (isBitcoin ? FEE : GAS * fee.rate),
      build,
      broadcast,
      observe,
    },
  }
  return {
    chain,
    knobs,
    mine,
    reorg,
    pay,
    offer,
    steal,
    held,
    waiting: () => pool.map(({ txHash }) => txHash),
    paidTo: (address: string) =>
      mined()
        .filter(({ ok }) => ok)
        .flatMap(({ transfers }) => transfers)
        .filter((one) => one.address === address),
    toTx,
  }
}

export type FakeChain = ReturnType<typeof createFakeChain>

/** Signs by writing the intent down; keeps the journal that a signer keeps (I-37). */
export function createFakeSigner() {
  const released = new Map<string, string>()
  const idOf = createPayoutIds(Buffer.from('a seed of the fake signer'))
  const keyOf = (intent: SignIntent) =>
    intent.family !== 'evm'
      ? `${intent.inputs[0]?.outpoint}`
      : `${intent.from.branch}/${intent.from.index}:${intent.nonce}`
  const pays = (intent: SignIntent) => (intent.family === 'evm' ? [intent.pay] : intent.pays)
  return {
    released,
    payoutId: ({ text, plainId, isReleasedUnderPlainId }: PayoutOrigin) =>
      isReleasedUnderPlainId ? plainId : idOf(text),
    sign: async (intent: SignIntent) => {
      const raw = JSON.stringify(intent, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value))
      return { raw, txHash: digest(raw) }
    },
    release: async ({ intent }: ReleasedTransaction) => {
      for (const { payoutId } of pays(intent)) {
        const before = released.get(payoutId)
        if (before !== undefined && before !== keyOf(intent)) throw new AppError('INTERNAL', 'left before')
        released.set(payoutId, keyOf(intent))
      }
    },
    expire: async (ids: readonly string[]) => {
      for (const id of ids) released.delete(id)
    },
  }
}
