import { once } from 'node:events'
import { Command, CommanderError, Option } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import type { Role } from '../app/app.ts'
import { ConfigError, loadConfig, requireProduction } from '../config/load.ts'
import { AppError } from '../core/domain/errors.ts'
import { FolderLockedError } from '../lib/lock.ts'
import { setAdminUrl } from './target.ts'

/** The longest time that requests and steps in progress get to finish after a stop signal, beside the drain time. */
const STOP_MS = 20_000

/** Runs one command line. The exit code is 0, 1 for a failure, 2 for wrong settings or arguments. */
export async function runProgram(args: readonly string[]): Promise<void> {
  const program = new Command('swapyard')
    .description('self-hosted crypto exchange server')
    .version(packageJson.version)
    .option('--url <url>', 'acts on this server by its admin API (SWAPYARD_ADMIN_URL); see swapyard login')
    .exitOverride()
  program.hook('preAction', () => setAdminUrl(program.opts<{ url?: string }>().url))
  program
    .command('start')
    .description('starts the service')
    .addOption(
      new Option('--role <role>', 'part of the service that this process runs')
        .choices(['api', 'worker', 'all'])
        .default('all'),
    )
    .addOption(new Option('--sandbox', 'allows a start without a production config, as the sandbox').default(false))
    .action(({ role, sandbox }: { role: Role; sandbox: boolean }) => run(role, sandbox))
  // `start` loads its modules later, in parallel with the database and the chains.
  if (args[0] !== 'start') await addCommands(program, args[0] ?? '')
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    explain(error)
  }
}

/** Groups of commands whose libraries take longer to load than most commands take to run. */
const groups = {
  partners: async (program: Command) => (await import('./partner-commands.ts')).addPartnerCommands(program),
  lab: async (program: Command) => (await import('./lab-commands.ts')).addLabCommands(program),
  contracts: async (program: Command) => (await import('./contract-commands.ts')).addContractCommands(program),
}

/** Adds the group of this command, or all groups for the help and for an unknown command. */
async function addCommands(program: Command, name: string): Promise<void> {
  if (Object.hasOwn(groups, name)) return groups[name as keyof typeof groups](program)
  const { addOperatorCommands } = await import('./operator-commands.ts')
  addOperatorCommands(program)
  if (program.commands.some((command) => command.name() === name || command.aliases().includes(name))) return
  for (const add of Object.values(groups)) await add(program)
}

async function run(role: Role, sandbox: boolean): Promise<void> {
  const config = loadConfig()
  if (!sandbox) requireProduction(config)
  const stopping = new AbortController()
  const stop = (signal: string) => {
    if (stopping.signal.aborted) return
    console.log(`${signal}: finishing requests and steps in progress`)
    setTimeout(() => process.exit(1), STOP_MS + config.clocks.drainMs).unref()
    stopping.abort()
  }
  process.on('SIGTERM', stop).on('SIGINT', stop)
  // Imported here: without the service's libraries, every other command starts in half the time.
  const { start } = await import('../app/start.ts')
  const running = await start(config, role, stopping.signal).catch((error: unknown) => {
    // The start was interrupted and has stopped everything that it had started.
    if (error === stopping.signal.reason) return null
    throw error
  })
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort')
  await running?.stop()
  process.exit(0)
}

/** Prints the message of an expected error, and the stack of a bug. */
function explain(error: unknown): void {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2
    return
  }
  const isExpected =
    error instanceof ConfigError ||
    error instanceof FolderLockedError ||
    error instanceof AppError ||
    (error instanceof Error && error.constructor !== TypeError && error.name !== 'InvariantError')
  console.error(isExpected && error instanceof Error ? error.message : error)
  process.exitCode = error instanceof ConfigError ? 2 : 1
  // Handles that a failed start left open must not keep the process alive.
  process.exit()
}
