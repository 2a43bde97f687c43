/** The command that starts Java: from JAVA_HOME when it is set. */
export const java: string

/** What to install when Java or Maven are missing. */
export const NEEDED: string

/** Compiles test/kafka when its sources have changed; resolves to the class path. */
export function build(): Promise<string>

/** The Kafka version of pom.xml. */
export function kafkaVersion(): Promise<string>
