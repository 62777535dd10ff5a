export type Usage = Readonly<{ rssBytes: number; cpuMs: number }>

/** The memory of this process, and the CPU time of all its threads since it began. */
export function readUsage(): Usage {
  const { user, system } = process.cpuUsage()
  return { rssBytes: process.memoryUsage.rss(), cpuMs: (user + system) / 1000 }
}
