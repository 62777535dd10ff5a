import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { PATIENCE_MS } from '../../../../test/support/patience.ts'
import { readContracts } from '../../../src/adapters/swap-chain/deploy.ts'
import {
  type DeployedContract,
  deployFromAccount,
  openDeployer,
} from '../../../src/adapters/swap-chain/deploy-from-key.ts'
import { openShell, type Shell } from '../../cli/shell.ts'
import { type Anvil, hex, startAnvil } from '../chains/evm/anvil.ts'
import { network } from '../chains/evm/wallet.ts'

// `swapyard contracts deploy --key-file`: the operator's account deploys on a network without our contracts.

const PROXY = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
const key = generatePrivateKey()
const account = privateKeyToAddress(key)
const names = ['router', 'executor', 'external-executor']

let anvil: Anvil
let shell: Shell
let file: string
let empty: string
beforeAll(async () => {
  ;[anvil, shell] = await Promise.all([startAnvil(), openShell()])
  const nodes = { network: 'eth', family: 'evm', client: 'anvil', rpcUrls: [anvil.url], tokens: {} }
  writeFileSync(join(shell.folder, 'one.json'), JSON.stringify({ networks: [nodes] }))
  file = keyFile('key', `${key}\n`)
  empty = await anvil.request<string>('evm_snapshot', [])
})
afterAll(async () => {
  await anvil?.stop()
  await shell?.close()
})
beforeEach(async () => {
  await anvil.request('evm_revert', [empty])
  empty = await anvil.request<string>('evm_snapshot', [])
  await anvil.request('evm_setAutomine', [true])
  await setBalance(10n ** 18n)
})

function keyFile(name: string, content: string, mode = 0o600): string {
  const path = join(shell.folder, name)
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}

const setBalance = (wei: bigint) => anvil.request('anvil_setBalance', [account, hex(wei)])
const read = async (method: string, params: readonly unknown[]) => BigInt(await anvil.request<string>(method, params))
const balance = () => read('eth_getBalance', [account, 'latest'])
const readNonce = () => read('eth_getTransactionCount', [account, 'pending'])
const deploy = (...args: string[]) =>
  shell.swapyard(['contracts', 'deploy', ...args], { SWAPYARD_CHAINS: join(shell.folder, 'one.json') })

test('deploys missing contracts once and reports the cost', async () => {
  const target = { network, rpcUrls: [anvil.url] }
  const planned = await readContracts(target)
  // One is already deployed: any account may send the printed transaction.
  const { to, data } = planned[1]?.transaction ?? {}
  await anvil.request('eth_sendTransaction', [{ from: anvil.accounts[0], to, data }])

  const first = await deploy('--key-file', file)
  expect(first).toMatchObject({ code: 0, error: '' })
  const [existing, ...sent] = first.lines
  expect(existing).toMatchObject({ contract: 'executor', isDeployed: true, from: null })
  expect(sent.map(({ contract }) => contract)).toEqual(['router', 'external-executor'])
  let paid = 0n
  for (const { contract, address, from, txHash, gasUsed, fee } of sent) {
    expect(from).toBe(account)
    expect(address).toBe(planned[names.indexOf(String(contract))]?.address)
    expect((await anvil.request<string>('eth_getCode', [address, 'latest'])).length).toBeGreaterThan(2_000)
    const receipt = await anvil.request<Record<string, string>>('eth_getTransactionReceipt', [txHash])
    expect(receipt).toMatchObject({ status: '0x1', from: account.toLowerCase(), gasUsed: hex(BigInt(String(gasUsed))) })
    expect(BigInt(String(fee))).toBe(BigInt(receipt['gasUsed'] ?? 0) * BigInt(receipt['effectiveGasPrice'] ?? 0))
    paid += BigInt(String(fee))
  }
  expect(await balance()).toBe(10n ** 18n - paid)

  const repeated = await deploy('--key-file', file)
  expect(repeated).toMatchObject({ code: 0, error: '' })
  expect(repeated.lines.map(({ contract, isDeployed, txHash }) => [contract, isDeployed, txHash])).toEqual(
    names.map((name) => [name, true, undefined]),
  )
  expect(await readNonce()).toBe(2n)
})

test('sends nothing without sufficient balance, or with pending transactions', async () => {
  await setBalance(1_000_000_000_000n)
  const poor = await deploy('--key-file', file)
  expect(poor).toMatchObject({ code: 1, lines: [] })
  expect(poor.error).toMatch(
    new RegExp(
      `^eth: nothing was sent: ${account} holds 0.000001 coins and may need 0\\.\\d+: 0\\.\\d+ are missing\\n$`,
    ),
  )

  await setBalance(10n ** 18n)
  await anvil.request('evm_setAutomine', [false])
  await anvil.request('anvil_impersonateAccount', [account])
  await anvil.request('eth_sendTransaction', [{ from: account, to: account }])
  const blocked = await deploy('--key-file', file)
  expect(blocked).toMatchObject({ code: 1, lines: [] })
  expect(blocked.error).toContain(`transactions of ${account} (1) are in no block yet`)
  await anvil.mine()

  await anvil.request('anvil_setCode', [PROXY, '0x'])
  const first = await deploy('--key-file', file)
  expect(first).toMatchObject({ code: 1, lines: [] })
  expect(first.error).toContain('eth: nothing was sent: the deterministic deployment proxy is missing')
  const printed = await deploy('--key-file', file, '--dry-run')
  expect(printed.lines.map(({ isDeployed, note }) => [isDeployed, note])).toEqual(
    names.map(() => [false, 'the deterministic deployment proxy is missing']),
  )
  expect(await readNonce()).toBe(1n)
})

test('D10: sends nothing to a chain without the opcodes of the contracts', { timeout: PATIENCE_MS }, async () => {
  const shanghai = await startAnvil(['--hardfork', 'shanghai'])
  const signer = openDeployer(key)
  if (signer === null) throw new Error('no key')
  await shanghai.request('anvil_setBalance', [account, hex(10n ** 18n)])
  const deployed: DeployedContract[] = []
  const target = { network, rpcUrls: [shanghai.url] }
  expect(await deployFromAccount(target, signer, (one) => deployed.push(one))).toEqual({ kind: 'unsupported-opcodes' })
  expect(deployed).toEqual([])
  expect(await shanghai.request('eth_getTransactionCount', [account, 'pending'])).toBe('0x0')
  await shanghai.stop()
})

test('rejects an invalid key and a key file that other users can read', async () => {
  for (const [path, sentence] of [
    [keyFile('open', key, 0o640), 'is accessible to other users; run chmod 600'],
    [keyFile('zero', '0'.repeat(64)), 'does not contain a private key: the number is outside the curve order'],
  ] as const) {
    const refused = await deploy('--key-file', path)
    expect(refused).toMatchObject({ code: 1, lines: [] })
    expect(refused.error).toContain(`${path} ${sentence}`)
  }
  expect(await readNonce()).toBe(0n)
})

test('sends legacy transactions on a network without dynamic fees', async () => {
  const legacy = {
    ...network,
    evm: { ...network.evm, chainId: network.evm?.chainId ?? 0, finalityTag: null, dynamicFees: false },
  }
  const deployed: DeployedContract[] = []
  const signer = openDeployer(key)
  if (signer === null) throw new Error('no key')
  expect(
    await deployFromAccount({ network: legacy, rpcUrls: [anvil.url] }, signer, (one) => deployed.push(one)),
  ).toBeNull()
  expect(deployed.map(({ contract }) => contract)).toEqual(names)
  for (const { sent } of deployed)
    expect(await anvil.request('eth_getTransactionByHash', [sent?.txHash])).toMatchObject({ type: '0x0' })
})
