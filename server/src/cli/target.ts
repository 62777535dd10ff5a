import { readAdminUrl } from '../config/environment.ts'

let url: string | null = null

/** The server whose admin API the commands use; null = the database of this machine. Set once, before a command runs. */
export const adminUrl = (): string | null => url

export function setAdminUrl(option: string | undefined): void {
  url = option?.replace(/\/+$/, '') ?? readAdminUrl()
}
