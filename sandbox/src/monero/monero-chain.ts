import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import { formatUnits, parseUnits } from '../amount.ts'
import type { Children } from '../children.ts'
import { ControlError, invalidAddress, requireNativeCurrency, requireReorgDepth } from '../control-error.ts'
import { moneroBank } from '../keys.ts'
import type { LocalChain, Tip } from '../local-chain.ts'
import { type MoneroProgramOptions, type RunningMoneroProgram, startMonerod, startWalletRpc } from './monero-nodes.ts'
import { MoneroError, type MoneroRpc } from './monero-rpc.ts'

/** Rewards mature after 60 blocks and a ring needs 16 outputs. With 300 blocks the first 240 rewards are spendable. */
export const initialBlocks = 300
const blocksPerCall = 10
/** Retries of a payment, each with another selection of outputs. */
const transferRetries = 3
/** Failed `generateblocks` calls before giving up. */
const failuresMax = 3
const relayPollsMax = 500
const relayPollMs = 20
const decimals = 12
/** Delay of the first block and of the bank wallet after a start, so that they do not slow down the other chains. */
const bankStartDelayMs = 5000

export type MoneroPrograms = Readonly<{ monerod: string; wallet: string }>

type Options = Readonly<{
  programs: MoneroPrograms
  folder: string
  /** `restricted`: port of monerod's restricted RPC, which public nodes offer. */
  ports: Readonly<{ daemon: number; wallet: number; restricted?: number }>
  children: Children
  onExit: (reason: string) => void
}>

/** A LocalChain over Monero regtest. The bank is a wallet with published keys; outside wallets are accounts of it. */
export async function createMoneroChain(options: Options): Promise<LocalChain> {
  const { programs, folder, ports, children, onExit } = options
  const shared = { children, onExit }
  const daemon = await startMonerod({
    ...shared,
    program: programs.monerod,
    folder,
    port: ports.daemon,
    ...(ports.restricted === undefined ? {} : { restrictedPort: ports.restricted }),
  })
  const height = await readHeight(daemon.rpc)
  if (height < initialBlocks) await generateBlocks(daemon.rpc, initialBlocks - height)
  const bank = createBank(
    { ...shared, program: programs.wallet, folder: join(folder, 'bank'), port: ports.wallet },
    ports.daemon,
  )
  const runExclusive = pLimit(1)
  const withBank = <T>(work: (wallet: MoneroRpc) => Promise<T>) =>
    runExclusive(async () => work((await bank.open()).rpc))
  const { release_version: version = '' } = (await daemon.rpc.call('get_version')) as { release_version?: string }

  return {
    network: 'xmr',
    family: 'monero',
    client: `monerod 0.18 ${version}`.trim(),
    rpcUrls: [`http://127.0.0.1:${ports.daemon}`],
    tokens: {},
    // On a first start the server waits for its deposits, so blocks begin at once.
    ...(bank.isNew ? {} : { firstBlockDelayMs: bankStartDelayMs }),
    createWallet: async () => {
      const { address } = await withBank((wallet) => wallet.call('create_account'))
      return { network: 'xmr', address: String(address), memo: null, privateKey: moneroBank.spendKey }
    },
    async deposit({ currency, address, amount }) {
      requireNativeCurrency('xmr', currency)
      const units = parseUnits(amount, decimals)
      if (units === 0n) throw new ControlError(400, 'AMOUNT_TOO_SMALL', 'the amount is zero')
      return withBank((wallet) => sendPayment(wallet, daemon.rpc, address, units)).catch(rethrowMoneroError)
    },
    async readBalance({ currency, address }) {
      requireNativeCurrency('xmr', currency)
      return withBank((wallet) => readBalance(wallet, address)).catch(rethrowMoneroError)
    },
    mine: (count) =>
      runExclusive(async () => {
        await waitUntilRelayed(daemon.rpc)
        return generateBlocks(daemon.rpc, count)
      }),
    reorganize: (depth, { drop }) => runExclusive(() => reorganize(daemon.rpc, depth, drop)).catch(rethrowMoneroError),
    countPending: async () => Number((await daemon.rpc.call('get_info'))['tx_pool_size']),
    async stop() {
      await runExclusive(async () => undefined)
      await bank.stop()
      await daemon.stop()
    },
  }
}

/** Height of the tip: one less than monerod's block count. */
async function readHeight(daemon: MoneroRpc): Promise<number> {
  return Number((await daemon.call('get_block_count'))['count']) - 1
}

type PoolTransaction = Readonly<{ do_not_relay: boolean; kept_by_block: boolean; last_relayed_time: number }>

/**
 * Waits until monerod has relayed its pool, because it mines only relayed transactions. Even without peers it marks a
 * transaction as relayed shortly after it accepts it.
 */
async function waitUntilRelayed(daemon: MoneroRpc): Promise<void> {
  for (let polls = 0; polls < relayPollsMax; polls++) {
    const { transactions = [] } = (await daemon.post('/get_transaction_pool', {})) as {
      transactions?: PoolTransaction[]
    }
    if (!transactions.some(isUnrelayed)) return
    await delay(relayPollMs)
  }
}

/** `last_relayed_time` is 0 on the Dandelion++ stem, and 2^64-1 before. Transactions of popped blocks are mined anyway. */
function isUnrelayed({ do_not_relay, kept_by_block, last_relayed_time }: PoolTransaction): boolean {
  if (do_not_relay || kept_by_block) return false
  return last_relayed_time === 0 || last_relayed_time > Number.MAX_SAFE_INTEGER
}

/** Mines blocks. Rewards go to the bank under one-time keys, so two branches never have the same block. */
export async function generateBlocks(daemon: MoneroRpc, count: number): Promise<Tip> {
  let height = await readHeight(daemon)
  const target = height + count
  let failures = 0
  while (height < target) {
    // Small calls: on a busy machine one block can take a second.
    const amount = Math.min(target - height, blocksPerCall)
    try {
      await daemon.call('generateblocks', { amount_of_blocks: amount, wallet_address: moneroBank.address })
    } catch (error) {
      // The pool may have changed while monerod built the block: retry.
      if (!(error instanceof MoneroError) || ++failures > failuresMax) throw error
    }
    height = await readHeight(daemon)
  }
  return readTip(daemon)
}

async function readTip(daemon: MoneroRpc): Promise<Tip> {
  const { block_header: top } = await daemon.call('get_last_block_header')
  const { height, hash } = top as { height: number; hash: string }
  return { height, hash }
}

/**
 * Opens the bank wallet on its first use or after a delay, because it takes longer to open than all other chains take
 * to start. A new wallet opens at once: the server will need it for its first deposits.
 */
function createBank(start: MoneroProgramOptions, daemonPort: number) {
  const isNew = !existsSync(join(start.folder, 'bank.keys'))
  let openedWallet: Promise<RunningMoneroProgram> | undefined
  const open = () => {
    clearTimeout(timer)
    if (openedWallet) return openedWallet
    openedWallet = startWalletRpc(start, daemonPort).then(async (wallet) => {
      await openBank(wallet.rpc, isNew)
      return wallet
    })
    openedWallet.catch((error: Error) => start.onExit(`has no bank wallet: ${error.message}`))
    return openedWallet
  }
  const timer = setTimeout(open, isNew ? 0 : bankStartDelayMs)
  return {
    isNew,
    open,
    async stop() {
      clearTimeout(timer)
      await openedWallet?.then(
        (wallet) => wallet.stop(),
        () => undefined,
      )
    },
  }
}

async function openBank(wallet: MoneroRpc, isNew: boolean): Promise<void> {
  const { address, viewKey, spendKey } = moneroBank
  if (isNew)
    await wallet.call('generate_from_keys', {
      filename: 'bank',
      address,
      viewkey: viewKey,
      spendkey: spendKey,
      password: '',
      restore_height: 0,
    })
  else await wallet.call('open_wallet', { filename: 'bank', password: '' })
  await wallet.call('refresh')
}

/** After a reorg, the wallet may hold output indexes of replaced blocks, as its own inputs or as those of its rings. */
const isStale = (error: unknown): boolean =>
  error instanceof MoneroError && /requested real output|rejected by daemon/.test(error.message)

async function sendPayment(wallet: MoneroRpc, daemon: MoneroRpc, address: string, units: bigint): Promise<string> {
  await wallet.call('refresh')
  const { valid } = await wallet.call('validate_address', { address })
  if (valid !== true) throw invalidAddress('xmr', address)
  for (let retriesLeft = transferRetries; ; retriesLeft--) {
    const frozen = await freezePending(wallet, daemon)
    try {
      const sent = await wallet.call('transfer', { destinations: [{ address, amount: units }], account_index: 0 })
      return String(sent['tx_hash'])
    } catch (error) {
      if (retriesLeft === 0 || !isStale(error)) throw error
      await wallet.call('rescan_blockchain')
    } finally {
      for (const key_image of frozen) await wallet.call('thaw', { key_image })
    }
  }
}

/**
 * Freezes the outputs that a transaction in monerod's pool spends, and returns their key images. After a reorg the wallet
 * takes the outputs of a payment that returned to the pool for unspent, and monerod would reject the double spend.
 */
async function freezePending(wallet: MoneroRpc, daemon: MoneroRpc): Promise<readonly string[]> {
  const { spent_key_images: spent = [] } = (await daemon.post('/get_transaction_pool', {})) as {
    spent_key_images?: { id_hash: string }[]
  }
  if (spent.length === 0) return []
  const pending = new Set(spent.map(({ id_hash: image }) => image))
  const { transfers = [] } = (await wallet.call('incoming_transfers', { transfer_type: 'available' })) as {
    transfers?: { key_image: string }[]
  }
  const frozen = transfers.map(({ key_image: image }) => image).filter((image) => pending.has(image))
  for (const key_image of frozen) await wallet.call('freeze', { key_image })
  return frozen
}

/** Reads the balance of an account of the bank wallet. Balances of other addresses are not visible on Monero. */
async function readBalance(wallet: MoneroRpc, address: string): Promise<string> {
  await wallet.call('refresh')
  const { index } = (await wallet.call('get_address_index', { address })) as { index: { major: number } }
  const { balance } = await wallet.call('get_balance', { account_index: index.major })
  return formatUnits(BigInt(balance as number | bigint), decimals)
}

/**
 * Replaces the last blocks. monerod never mines a transaction again once its inputs were too young for one block of the
 * new branch, so the pool is flushed first and resubmitted when the whole branch is mined.
 */
async function reorganize(daemon: MoneroRpc, depth: number, drop: boolean): Promise<Tip> {
  const tipHeight = await readHeight(daemon)
  requireReorgDepth(depth, tipHeight - initialBlocks)
  const minedIds = await readTransactionIdsSince(daemon, tipHeight - depth + 1)
  const { tx_hashes: poolIds = [] } = (await daemon.post('/get_transaction_pool_hashes', {})) as {
    tx_hashes?: string[]
  }
  const resubmitted = await readRawTransactions(daemon, drop ? poolIds : [...poolIds, ...minedIds])
  await daemon.post('/pop_blocks', { nblocks: depth })
  const removedIds = [...poolIds, ...minedIds]
  if (removedIds.length > 0) await daemon.call('flush_txpool', { txids: removedIds })
  const tip = await generateBlocks(daemon, depth + 1)
  // monerod rejects a transaction whose ring refers to outputs of replaced blocks.
  for (const raw of resubmitted) await daemon.post('/send_raw_transaction', { tx_as_hex: raw })
  return tip
}

async function readRawTransactions(daemon: MoneroRpc, hashes: readonly string[]): Promise<readonly string[]> {
  if (hashes.length === 0) return []
  const { txs = [] } = (await daemon.post('/get_transactions', { txs_hashes: hashes })) as {
    txs?: { as_hex: string }[]
  }
  return txs.map(({ as_hex: raw }) => raw)
}

async function readTransactionIdsSince(daemon: MoneroRpc, from: number): Promise<readonly string[]> {
  const hashes: string[] = []
  for (let height = from; height <= (await readHeight(daemon)); height++) {
    const { tx_hashes: some = [] } = (await daemon.call('get_block', { height })) as { tx_hashes?: string[] }
    hashes.push(...some)
  }
  return hashes
}

function rethrowMoneroError(error: unknown): never {
  if (error instanceof MoneroError)
    throw new ControlError(409, 'NODE_REFUSED', `the node rejected the request: ${error.message}`, error)
  throw error
}
