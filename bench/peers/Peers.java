import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.analysis.core.KeywordAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.MultipassTermFilteredPresearcher;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.TermQuery;
import software.amazon.event.ruler.Machine;

/**
 * Engines in Java on an exported workload of comparisons of integers, one predicate for each
 * attribute of a conjunction: {@code Peers ENGINE EXPRESSIONS EVENTS},
 * both files with one JSON value a line; prints one JSON object with build_s, times_ns (the median
 * of five rounds of CPU time for each event, after three rounds of warm-up) and answers.
 */
public class Peers {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int WARM = 3;
  private static final int ROUNDS = 5;

  interface Engine {
    void add(long id, JsonNode predicates) throws Exception;

    default void finish() throws Exception {}

    List<Long> match(String event) throws Exception;
  }

  /** event-ruler: a rule is an object of fields with their values. */
  static class EventRuler implements Engine {
    private final Machine machine = new Machine();

    @Override
    public void add(long id, JsonNode predicates) throws Exception {
      ObjectNode rule = JSON.createObjectNode();
      for (JsonNode predicate : predicates) {
        ArrayNode values = rule.putArray(predicate.get(1).asText());
        String operator = predicate.get(0).asText();
        switch (operator) {
          case "=" -> values.add(predicate.get(2));
          case "between" ->
              values
                  .addObject()
                  .putArray("numeric")
                  .add(">=")
                  .add(predicate.get(2))
                  .add("<=")
                  .add(predicate.get(3));
          default -> values.addObject().putArray("numeric").add(operator).add(predicate.get(2));
        }
      }
      machine.addRule(Long.toString(id), rule.toString());
    }

    @Override
    public List<Long> match(String event) throws Exception {
      List<Long> found = new ArrayList<>();
      for (String name : machine.rulesForJSONEvent(event)) {
        found.add(Long.parseLong(name));
      }
      return found;
    }
  }

  /** Lucene Monitor: a conjunction of terms and ranges, found by the terms in its presearcher. */
  static class LuceneMonitor implements Engine {
    private final org.apache.lucene.monitor.Monitor monitor;
    private final List<MonitorQuery> queries = new ArrayList<>();

    LuceneMonitor() throws Exception {
      monitor =
          new org.apache.lucene.monitor.Monitor(
              new KeywordAnalyzer(), new MultipassTermFilteredPresearcher(2));
    }

    @Override
    public void add(long id, JsonNode predicates) {
      BooleanQuery.Builder query = new BooleanQuery.Builder();
      for (JsonNode predicate : predicates) {
        String field = predicate.get(1).asText();
        int value = predicate.get(2).asInt();
        query.add(
            switch (predicate.get(0).asText()) {
              case "=" -> new TermQuery(new Term(field, predicate.get(2).asText()));
              case "<" -> IntPoint.newRangeQuery(field, Integer.MIN_VALUE, value - 1);
              case "<=" -> IntPoint.newRangeQuery(field, Integer.MIN_VALUE, value);
              case ">" -> IntPoint.newRangeQuery(field, value + 1, Integer.MAX_VALUE);
              case ">=" -> IntPoint.newRangeQuery(field, value, Integer.MAX_VALUE);
              default -> IntPoint.newRangeQuery(field, value, predicate.get(3).asInt());
            },
            BooleanClause.Occur.MUST);
      }
      queries.add(new MonitorQuery(Long.toString(id), query.build()));
    }

    @Override
    public void finish() throws Exception {
      monitor.register(queries);
    }

    @Override
    public List<Long> match(String event) throws Exception {
      Document document = new Document();
      JSON.readTree(event)
          .fields()
          .forEachRemaining(
              field -> {
                String value = field.getValue().asText();
                document.add(new StringField(field.getKey(), value, Field.Store.NO));
                document.add(new IntPoint(field.getKey(), field.getValue().asInt()));
              });
      List<Long> found = new ArrayList<>();
      for (QueryMatch match : monitor.match(document, QueryMatch.SIMPLE_MATCHER).getMatches()) {
        found.add(Long.parseLong(match.getQueryId()));
      }
      return found;
    }
  }

  public static void main(String[] arguments) throws Exception {
    Engine engine =
        arguments[0].equals("event-ruler") ? new EventRuler() : new LuceneMonitor();
    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    long started = System.nanoTime();
    long id = 0;
    for (String line : Files.readAllLines(Path.of(arguments[1]))) {
      JsonNode tree = JSON.readTree(line).get(1);
      JsonNode predicates = JSON.createArrayNode().add(tree);
      if (tree.get(0).asText().equals("and")) {
        List<JsonNode> children = new ArrayList<>();
        tree.forEach(children::add);
        predicates = JSON.createArrayNode().addAll(children.subList(1, children.size()));
      }
      engine.add(id++, predicates);
    }
    engine.finish();
    double build = (System.nanoTime() - started) / 1e9;
    List<String> events = Files.readAllLines(Path.of(arguments[2]));
    long[][] times = new long[events.size()][ROUNDS];
    List<List<Long>> answers = new ArrayList<>();
    for (int round = -WARM; round < ROUNDS; round++) {
      for (int place = 0; place < events.size(); place++) {
        long before = clock.getCurrentThreadCpuTime();
        List<Long> found = engine.match(events.get(place));
        found.sort(null);
        if (round >= 0) {
          times[place][round] = clock.getCurrentThreadCpuTime() - before;
        }
        if (round == 0) {
          answers.add(found);
        }
      }
    }
    ObjectNode result = JSON.createObjectNode().put("build_s", build);
    long[] medians = Arrays.stream(times).mapToLong(Peers::median).toArray();
    result.set("times_ns", JSON.valueToTree(medians));
    result.set("answers", JSON.valueToTree(answers));
    System.out.println(result);
    System.exit(0);
  }

  private static long median(long[] values) {
    long[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
