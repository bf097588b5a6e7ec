import { Task } from "solid-jobs";

export class CountPrimes extends Task {
  executeTask(limit: number) {
    let count = 0;
    for (let n = 2; n <= limit; n++) if (isPrime(n)) count++;
    console.log(`${count} primes up to ${limit}`);
  }
}

function isPrime(n: number): boolean {
  for (let divisor = 2; divisor * divisor <= n; divisor++) if (n % divisor === 0) return false;
  return true;
}
