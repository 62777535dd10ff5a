import type { Transporter } from 'nodemailer'
import type { Mailer } from '../../events/ports/partner-http.ts'

const TIMEOUT_MS = 20_000

/** Sends by the SMTP server of the URL: `smtps://user:password@host:465`, or `smtp://…`, which uses STARTTLS where it is offered. */
export function createSmtpMailer({ url, from }: Readonly<{ url: string; from: string }>): Mailer {
  let opening: Promise<Transporter> | null = null
  const open = async (): Promise<Transporter> => {
    // Loaded with the first e-mail: most installations send none.
    const { createTransport } = await import('nodemailer')
    return createTransport(url, {
      from,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
    } as object)
  }
  const domain = from.split('@').at(-1)?.replace('>', '') ?? 'localhost'
  return {
    send: async ({ id, recipient, subject, body }) => {
      opening ??= open()
      const transport = await opening
      // A repeat has the same id. The text is no template: files and URLs are not read.
      await transport.sendMail({
        from,
        to: recipient,
        subject,
        text: body,
        messageId: `<${id}@${domain}>`,
        disableFileAccess: true,
        disableUrlAccess: true,
      })
    },
  }
}
