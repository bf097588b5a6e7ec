export const queueName = "bench";
