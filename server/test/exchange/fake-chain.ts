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
import type { ReleasedTransaction, SignIntent } from '../../src/exchange/ports/signer.ts'
import type { Payment, Utxo } from '../../src/exchange/ports/spend.ts'
import { largest } from '../../src/lib/bigint.ts'

/** A transaction of the fake chain. `keys` are the outpoints or nonces that only one transaction can use. */
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
type Block = Readonly<{ height: number; hash: string; parentHash: string; time: number; txs: readonly Tx[] }>

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 40)
const FEE = 1_000n
const GAS = 21_000n

/**
 * A chain of one node in memory, of the bitcoin or the evm family. Tests use it to pay, reorganise, revert, reject and
 * replace. It does not read the store: every answer comes from its own blocks.
 */
export function createFakeChain(network: Network) {
  const isBitcoin = network.family === 'bitcoin'
  let blocks: Block[] = [{ height: 0, hash: hashText(`${network.id} 0`), parentHash: '', time: 0, txs: [] }]
  let pool: Tx[] = []
  let salt = 0
  const behaviour = {
    rejectsBroadcasts: false,
    revertsTransactions: false,
    /** A broadcast has no effect, and its outcome is unknown to the sender. */
    dropsBroadcasts: false,
    feeRate: 10n,
    /** Of a transaction of the bitcoin family. */
    feeMax: 10n ** 9n,
    /** What a replacement evicts pays so much together (bitcoin). */
    evictedUnits: 0n,
    /** Of the next blocks, in seconds since 1970; null = now. */
    blockTime: null as number | null,
    /** Whether unconfirmed payments are firm enough for a fixed rate (bitcoin). */
    stopsClock: true,
    /** When its nodes first saw unconfirmed payments (bitcoin); null = unknown. */
    seenAt: null as Date | null,
    /** The gas estimate of a payment to this address fails. */
    revertingRecipient: null as string | null,
    /** The first of two nodes does not report the transfers of these transactions. */
    hiddenTxHashes: new Set<string>(),
    /** Why the received units of these transactions cannot be read, by hash. */
    unreadable: new Map<string, Error>(),
    /** What the second node reports instead of a transfer; absent: the transfer. */
    reportDifferently: null as ((transfer: Transfer) => Transfer) | null,
    /** An output of ours whose signature no node accepts. */
    unsignableOutpoint: null as string | null,
    tagHeights: { safe: null, finalized: null } as Record<FinalityTag, number | null>,
  }

  const head = (): Block => blocks[blocks.length - 1] as Block
  const listMined = (): readonly Tx[] => blocks.flatMap(({ txs }) => txs)
  const conflicts = (one: Tx, other: Tx) => other.keys.some((key) => one.keys.includes(key))
  const hasMinedConflict = (tx: Tx) => listMined().some((other) => conflicts(tx, other))

  /** All inputs are outputs of mined transactions or of `also`. Inputs of foreign wallets always exist. */
  const isFunded = ({ spends }: Tx, also: readonly Tx[]) => {
    const outpoints = new Set(
      [...listMined(), ...also].flatMap(({ transfers }) => transfers.map(({ identity }) => identity)),
    )
    return spends.every((outpoint) => outpoint.startsWith('foreign:') || outpoints.has(outpoint))
  }

  function mine(count = 1): void {
    for (let n = 0; n < count; n++) {
      const txs: Tx[] = []
      for (const tx of pool)
        if (!hasMinedConflict(tx) && isFunded(tx, txs) && !txs.some((other) => conflicts(tx, other)))
          txs.push(behaviour.revertsTransactions && tx.nonce !== null ? { ...tx, ok: false, transfers: [] } : tx)
      pool = []
      const { height, hash } = head()
      blocks.push({
        height: height + 1,
        parentHash: hash,
        hash: hashText(`${network.id} ${height + 1} ${hash} ${salt++}`),
        // A test can place the next blocks in time, as if the watcher read them later.
        time: behaviour.blockTime ?? Math.floor(Date.now() / 1_000),
        txs,
      })
    }
  }

  /**
   * Replaces the last `depth` blocks. Their transactions are mined again, except those that `drop` selects. What they
   * transfer then is the result of `change`.
   */
  function reorg(
    depth: number,
    drop: (txHash: string) => boolean = () => false,
    change: (transfer: Transfer) => Transfer = (transfer) => transfer,
  ): void {
    const removedBlocks = blocks.slice(-depth)
    blocks = blocks.slice(0, -depth)
    pool = [
      ...removedBlocks
        .flatMap(({ txs }) => txs)
        .filter(({ txHash }) => !drop(txHash))
        .map((tx) => ({ ...tx, ok: true, transfers: tx.transfers.map(change) })),
      ...pool,
    ]
    const returned = pool
    pool = []
    mine(depth)
    pool = returned
  }

  /** Adds a payment of a foreign wallet to the pool. Returns the hash. */
  function pay(
    address: string,
    units: bigint,
    { contract = null, sender = null, memo = null }: Partial<Pick<Transfer, 'contract' | 'sender' | 'memo'>> = {},
  ): string {
    const txHash = hashText(`pay ${address} ${units} ${salt++}`)
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

  /** Adds a transaction of a foreign contract to the pool, which pays these addresses in this order (evm). Returns the hash. */
  function payByContract(payments: readonly Readonly<{ address: string; units: bigint }>[]): string {
    const txHash = hashText(`contract ${salt++}`)
    const transfers = payments.map((payment, n) => {
      return { ...payment, identity: `${txHash}:trace:${n}`, txHash, memo: null, contract: null, sender: null }
    })
    const keys = [`foreign:${txHash}`]
    pool.push({ txHash, sender: null, nonce: null, spends: [], keys, feeUnits: 0n, ok: true, transfers })
    return txHash
  }

  /** Adds a payment of an earlier block to the pool again. */
  function resubmit(transfer: Transfer | undefined): void {
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

  /** Adds a foreign transaction that uses a resource of ours: an outpoint, or `address:nonce`. Returns the hash. */
  function addConflict(key: string): string {
    const txHash = hashText(`conflict ${key} ${salt++}`)
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
  const addressAt = ({ branch, index }: { branch: string; index: number }) =>
    branch === 'hot'
      ? addresses.hot()
      : branch === 'change'
        ? addresses.change(index)
        : addresses.deposit(index).address

  function build({
    payments,
    from,
    fee,
    utxos,
    changeIndex,
    nonce,
    replaces,
    gasLimit,
    cancels,
    sweepAll,
  }: SpendRequest): UnsignedTransaction {
    for (const { units } of payments)
      if (isBitcoin && units < (network.bitcoin?.dustUnits ?? 0n)) throw new AppError('AMOUNT_BELOW_MIN', 'dust')
    if (!isBitcoin) {
      const [pay] = payments
      if (!pay || nonce === null) throw new Error('A transaction of an account needs a payment and a nonce')
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
        ...(cancels === true ? { cancels } : {}),
      }
      const key = `${addressAt(from)}:${nonce}`
      return { intent, conflictKey: key, resources: [key], feeUnits: (gasLimit ?? GAS) * maxFeePerGas, change: null }
    }
    const inputs: Utxo[] = replaces?.intent.family === 'bitcoin' ? [...replaces.intent.inputs] : []
    const feeUnits = replaces ? largest(replaces.feeUnits, replaces.evictedUnits ?? 0n) + FEE : FEE
    if (feeUnits > behaviour.feeMax) throw new AppError('NETWORK_UNAVAILABLE', 'several times the current fee rate')
    const neededUnits = payments.reduce((sum, { units }) => sum + units, feeUnits)
    const inputUnits = () => inputs.reduce((sum, { units }) => sum + units, 0n)
    for (const utxo of utxos) if (sweepAll || inputUnits() < neededUnits) inputs.push(utxo)
    const [first] = inputs
    if (!first || inputUnits() < neededUnits)
      throw new AppError('INSUFFICIENT_LIQUIDITY', `the inputs have ${inputUnits()} units; ${neededUnits} are needed`)
    const rest = inputUnits() - neededUnits
    const path = { branch: 'change' as const, index: changeIndex }
    const change = rest > 0n ? { path, units: rest, address: addressAt(path), vout: payments.length } : null
    const intent: SignIntent = {
      family: 'bitcoin',
      network: network.id,
      inputs,
      pays: payments,
      change: change && { path, units: rest },
    }
    return { intent, conflictKey: first.outpoint, resources: inputs.map(({ outpoint }) => outpoint), feeUnits, change }
  }

  function decodeTx(raw: string): Tx {
    const intent = JSON.parse(raw, (_key, value) =>
      typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
    ) as SignIntent
    const txHash = hashText(raw)
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
      const sender = addressAt(intent.from)
      return {
        txHash,
        sender,
        nonce: intent.nonce,
        spends: [],
        keys: [`${sender}:${intent.nonce}`],
        feeUnits: intent.gasLimit * intent.maxFeePerGas,
        ok: true,
        // A cancel moves nothing.
        transfers:
          intent.cancels === true ? [] : [transfer(0, intent.pay.address, intent.pay.units, intent.pay.asset.contract)],
      }
    }
    if (intent.family === 'monero') throw new Error('The fake chain has no Monero')
    const spends = intent.inputs.map(({ outpoint }) => outpoint)
    const transfers = intent.pays.map((pay, n) => transfer(n, pay.address, pay.units, null))
    if (intent.change)
      transfers.push(transfer(intent.pays.length, addressAt(intent.change.path), intent.change.units, null))
    const paidUnits = transfers.reduce((sum, { units }) => sum + units, 0n)
    return {
      txHash,
      sender: null,
      nonce: null,
      spends,
      keys: spends,
      transfers,
      ok: true,
      feeUnits: intent.inputs.reduce((sum, { units }) => sum + units, 0n) - paidUnits,
    }
  }

  async function broadcast(raw: string): Promise<BroadcastResult> {
    const tx = decodeTx(raw)
    if (behaviour.rejectsBroadcasts || isUnsignable(tx)) return { kind: 'rejected', reason: 'no' }
    if (behaviour.dropsBroadcasts) return { kind: 'unknown', reason: 'no answer' }
    if ([...pool, ...listMined()].some(({ txHash }) => txHash === tx.txHash)) return { kind: 'known' }
    if (hasMinedConflict(tx)) return { kind: 'rejected', reason: 'spent' }
    if (isBitcoin && !isFunded(tx, pool)) return { kind: 'rejected', reason: 'missing inputs' }
    pool = [...pool.filter((other) => !conflicts(tx, other)), tx]
    return { kind: 'accepted' }
  }

  async function observe({ txHash, conflictKey, ancestorSpends = [] }: WatchedTransaction): Promise<Observation> {
    for (const block of blocks) {
      const [conflictingSpend] = ancestorSpends.flatMap(({ outpoint, spentBy }) => {
        const spender = block.txs.find((one) => one.txHash !== spentBy && one.keys.includes(outpoint))
        return spender === undefined ? [] : [{ spentBy: spender.txHash, parent: spentBy }]
      })
      if (conflictingSpend && head().height - block.height >= network.finalityBlocks)
        return { kind: 'invalidated', proof: conflictingSpend }
      const tx = block.txs.find((one) => one.txHash === txHash)
      if (tx)
        return { kind: 'included', block: { height: block.height, hash: block.hash }, ok: tx.ok, feeUnits: tx.feeUnits }
      const conflicting = block.txs.find(({ keys }) => conflictKey !== null && keys.includes(conflictKey))
      if (conflicting && head().height - block.height >= network.finalityBlocks)
        return { kind: 'invalidated', proof: { spentBy: conflicting.txHash } }
    }
    return pool.some((one) => one.txHash === txHash) ? { kind: 'pending' } : { kind: 'unseen' }
  }

  const isUnsignable = ({ spends }: Tx) => spends.some((outpoint) => outpoint === behaviour.unsignableOutpoint)

  const balanceOf = (address: string, contract: string | null): bigint =>
    listMined()
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

  /** Units of the unspent outputs of addresses (bitcoin). */
  function unspentOf(addresses: readonly string[]): bigint {
    const spent = new Set(listMined().flatMap(({ spends }) => spends))
    return listMined()
      .flatMap(({ transfers }) => transfers)
      .filter(({ address, identity }) => addresses.includes(address) && !spent.has(identity))
      .reduce((sum, { units }) => sum + units, 0n)
  }

  function readBlock(height: number, node: 'first' | 'second'): ScannedBlock | null {
    const block = blocks[height]
    if (!block) return null
    const transfers = block.txs
      .filter(({ txHash }) => node === 'second' || !behaviour.hiddenTxHashes.has(txHash))
      .flatMap((tx) => tx.transfers)
      .map((transfer) => (node === 'second' ? (behaviour.reportDifferently?.(transfer) ?? transfer) : transfer))
    return { ...block, transfers, transactions: block.txs }
  }

  const chain: Chain = {
    network,
    addresses,
    reader: {
      head: async () => ({ height: head().height, hash: head().hash }),
      block: async (height): Promise<ScannedBlock | null> => {
        return readBlock(height, 'first')
      },
      blockOfEachNode: async (height) =>
        (['first', 'second'] as const).flatMap((node) => readBlock(height, node) ?? []),
      mempool: async () => pool.flatMap(({ transfers }) => transfers),
      ...(isBitcoin
        ? {
            evictedFees: async () => behaviour.evictedUnits,
            inspectPending: async (txHash: string) => {
              const tx = pool.find((one) => one.txHash === txHash)
              const { stopsClock, seenAt } = behaviour
              return tx === undefined ? null : { stopsClock, spends: tx.spends, seenAt }
            },
          }
        : {}),
      agrees: async ({ height, hash }) => blocks[height]?.hash === hash,
      receivedUnits: async ({ identity, txHash }, { height }) => {
        const error = behaviour.unreadable.get(txHash)
        if (error) throw error
        const transfers = blocks[height]?.txs.flatMap((tx) => tx.transfers) ?? []
        return transfers.find((one) => one.identity === identity)?.units ?? 0n
      },
      tagHeight: async (tag) => behaviour.tagHeights[tag],
      balance: async (address, asset) => balanceOf(address, asset.contract),
      ...(isBitcoin
        ? {}
        : {
            minedNonce: async (address: string) =>
              listMined().filter(({ keys }) => keys.some((key) => key.startsWith(`${address}:`))).length,
          }),
      feeRate: async () => ({ rate: behaviour.feeRate, tip: 1n }),
      ...(isBitcoin
        ? {
            findMissingUtxos: async (utxos: readonly Utxo[]) => {
              const mined = listMined()
              const spent = new Set(mined.flatMap(({ spends }) => spends))
              const units = new Map(
                mined.flatMap(({ transfers }) => transfers.map((one) => [one.identity, one.units] as const)),
              )
              const isHeld = (one: Utxo) => units.get(one.outpoint) === one.units && !spent.has(one.outpoint)
              return utxos.filter((utxo) => !isHeld(utxo)).map(({ outpoint }) => outpoint)
            },
          }
        : {}),
    },
    sender: {
      gasLimit: async (pay: Payment, from) => {
        if (isBitcoin) return null
        if (behaviour.revertingRecipient === pay.address)
          throw new AppError('SIMULATION_FAILED', 'the payment would revert')
        if (balanceOf(addressAt(from), pay.asset.contract) < pay.units)
          throw new AppError('INSUFFICIENT_LIQUIDITY', 'the balance of the sender is too low')
        return GAS
      },
      payoutFee: (_asset, fee) => (isBitcoin ? FEE : GAS * fee.rate),
      build,
      broadcast,
      observe,
      findScriptFailure: async (raw) => (isUnsignable(decodeTx(raw)) ? 'the signature is invalid' : null),
    },
  }
  return {
    chain,
    behaviour,
    mine,
    reorg,
    pay,
    payByContract,
    resubmit,
    addConflict,
    balanceOf,
    unspentOf,
    listPoolHashes: () => pool.map(({ txHash }) => txHash),
    listPayments: (address: string) =>
      listMined()
        .filter(({ ok }) => ok)
        .flatMap(({ transfers }) => transfers)
        .filter((one) => one.address === address),
    decodeTx,
  }
}

export type FakeChain = ReturnType<typeof createFakeChain>

/**
 * Signs an intent by its JSON text. Its journal rejects a second transaction of a payout if that does not conflict with the
 * first (I-37).
 */
export function createFakeSigner() {
  const released = new Map<string, string>()
  const conflictKeyOf = (intent: SignIntent) =>
    intent.family !== 'evm'
      ? `${intent.inputs[0]?.outpoint}`
      : `${intent.from.branch}/${intent.from.index}:${intent.nonce}`
  const paymentsOf = (intent: SignIntent) => (intent.family === 'evm' ? [intent.pay] : intent.pays)
  return {
    released,
    payoutId: createPayoutIds(Buffer.from('a seed of the fake signer')),
    sign: async (intent: SignIntent) => {
      const raw = JSON.stringify(intent, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value))
      return { raw, txHash: hashText(raw) }
    },
    release: async ({ intent }: ReleasedTransaction) => {
      for (const { payoutId } of paymentsOf(intent)) {
        const conflictKey = conflictKeyOf(intent)
        const earlierKey = released.get(payoutId)
        if (earlierKey !== undefined && earlierKey !== conflictKey)
          throw new AppError('INTERNAL', `payout ${payoutId} was released before with ${earlierKey}`)
        released.set(payoutId, conflictKey)
      }
    },
    recordInvalidation: async (ids: readonly string[]) => {
      for (const id of ids) released.delete(id)
    },
  }
}
