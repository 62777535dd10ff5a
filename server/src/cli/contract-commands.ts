import type { Command } from 'commander'
import { networks as definitions } from '../../networks/index.ts'
import { deployContracts, hasDeployer, readContracts } from '../adapters/evm/swap/deploy.ts'
import { type Config, loadConfig } from '../config.ts'
import { type Network, resolveNetwork } from '../domain/network.ts'
import { nodesOf } from './evm-nodes.ts'
import { fail, print } from './print.ts'

type Reached = Readonly<{ network: Network; rpcUrls: readonly string[] }>

/** The swap contracts: they belong to nobody, and whoever sends the bytes puts them at the same addresses. */
export function addContractCommands(program: Command): void {
  const contracts = program.command('contracts').description('router and executors of swaps on the EVM networks')
  contracts
    .command('status')
    .description('where they are')
    .option('--network <ticker>', 'one network only')
    .action(async ({ network }: { network?: string }) => {
      for (const where of reached(loadConfig(), network)) {
        for (const { contract, address, isDeployed } of await readContracts(where))
          print({ network: where.network.id, contract, address, isDeployed })
      }
    })
  contracts
    .command('deploy')
    .description(
      'prints the transactions that put them where they are missing, for any account to send; the sandbox sends them itself',
    )
    .option('--network <ticker>', 'one network only')
    .option('--dry-run', 'prints in the sandbox, too', false)
    .action(async ({ network, dryRun }: { network?: string; dryRun: boolean }) => {
      const config = loadConfig()
      const sends = config.environment === 'sandbox' && !dryRun
      for (const where of reached(config, network)) {
        const states = sends ? await deployContracts(where) : await readContracts(where)
        const deployer =
          sends || (await hasDeployer(where)) ? {} : { note: 'the deterministic deployment proxy is missing' }
        for (const state of states) print({ network: where.network.id, ...state, ...deployer })
      }
    })
}

/** EVM networks that have a node: of the settings, or of the sandbox that runs. */
function reached(config: Config, wanted: string | undefined): readonly Reached[] {
  const nodes = nodesOf(config)
  const found = definitions
    .filter(({ id, family }) => family === 'evm' && (wanted === undefined || id === wanted))
    .flatMap((definition) => {
      const rpcUrls = nodes.get(definition.id)?.rpcUrls ?? []
      return rpcUrls.length === 0 ? [] : [{ network: resolveNetwork(definition, config.environment), rpcUrls }]
    })
  if (found.length === 0)
    fail(wanted === undefined ? 'no EVM network has a node' : `${wanted} is no EVM network with a node`)
  return found
}
